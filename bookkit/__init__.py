"""The book's machinery: what a chapter asserts and shows, and what executes and renders it."""
