// On the search page: where nothing was found, words of the book that are spelled nearly alike.
(() => {
  "use strict";

  // Letters to be changed, left out, put in or swapped with the next to make one word of another.
  function distance(a, b) {
    let [older, old] = [[], [...Array(b.length + 1).keys()]];
    for (let i = 1; i <= a.length; i++) {
      const row = [i];
      for (let j = 1; j <= b.length; j++) {
        const differ = a[i - 1] === b[j - 1] ? 0 : 1;
        row[j] = Math.min(old[j] + 1, row[j - 1] + 1, old[j - 1] + differ);
        if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
          row[j] = Math.min(row[j], older[j - 2] + 1);
        }
      }
      [older, old] = [old, row];
    }
    return old[b.length];
  }

  // The book's nearest word, itself if it has it; of words as near, the one that it has most often.
  function nearest(word) {
    const most = word.length < 6 ? 1 : 2;
    const near = BOOK_WORDS.map((other) => [distance(word, other), other]).filter(([d]) => d <= most);
    return near.reduce((a, b) => (b[0] < a[0] ? b : a), [most + 1, word])[1];
  }

  function offer(results) {
    const asked = new URLSearchParams(location.search).get("q") ?? "";
    const meant = asked.toLowerCase().replace(/[a-z]{4,}/g, nearest);
    if (meant === asked.toLowerCase()) {
      return;
    }
    const line = document.createElement("p");
    line.className = "search-spelling";
    const link = document.createElement("a");
    link.href = `?q=${encodeURIComponent(meant)}`;
    link.textContent = meant;
    line.append("Did you mean ", link, "?");
    results.append(line);
  }

  // Sphinx says that it is done in the summary, and says nothing else there.
  addEventListener("DOMContentLoaded", () => {
    const results = document.getElementById("search-results");
    const look = () => {
      if (results.querySelector(".search-summary")?.textContent) {
        watch.disconnect();
        if (!results.querySelector("li")) {
          offer(results);
        }
      }
    };
    const watch = new MutationObserver(look);
    watch.observe(results, { childList: true, subtree: true });
    look();
  });
})();
