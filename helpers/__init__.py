"""The mathematics, kernels and tools behind the chapters of *A Sharper Picture, Executed*: the map.

Imports run down this list. A room of a part imports the core above it and itself; only ``beyond``
imports other rooms. Nothing but a chapter imports ``book``, and ``book`` imports no room of a part.
What the runner needs of it imports neither torch nor Jupyter. Importing this package imports nothing.

Ground floor::

    checks                      Checks of what comes in by a public door: each error names the value and what is allowed.
    weights                     A model's weights: a flat dict of tensors, each behind any leading ensemble axes.
    draws                       Seeded draws, float64 where they are not whole, and the door for float64 literals.
    statistics                  What is said of many runs: slopes, shares, means, orders, runs drawn anew, first numbers.

Kernels::

    kernels                     Kernels on tables indexed by the cube; each module holds its public function, then its reference.
    kernels.compiled            Numba's decorator, with a cache on the disk that may fail at the cost of time alone.
    kernels.flips               What flipping bits does to a function with values -1 and 1, from its table packed 64 to a word.
    kernels.parity              Sums of characters at given points: public functions, torch reference, CPU path, GPU path.
    kernels.subcubes            Signed sums of a function over subcubes, given by a base point and the directions that span it.
    kernels.walsh               Walsh-Hadamard transform along the last axis: public functions, torch reference, CPU, GPU.

The cube::

    cube                        Functions on the cube: by table, by spectrum, and by questions to an oracle.
    cube.fourier                Fourier-Walsh analysis of functions given as tables, in the conventions of :mod:`helpers.cube`.
    cube.functions              The cube {-1, 1}^n: points, characters, named functions, random sparse functions.
    cube.testers                Property tests: the least degree, or sparsity, that questions do not refute.

Training and covers::

    training                    Train many independent models at once.
    training.batches            Batches for a stack of models, each drawn from the model's own generator.
    training.checkpoints        A file from which a run that was stopped goes on: plain tensors and numbers, never a pickle.
    training.ensemble           A stack of models while they train: who is still in it, what was found, who is let go.
    training.optimizer          AdamW for a stack of models: one fused kernel moves them all, each at its own rate.
    training.train              Train many independent models at once: one step moves a whole stack of them.
    covers                      Covering numbers and the capacity bounds that follow from them.
    covers.attention            Log covering numbers of attention heads and of deep transformers, as printed and repaired.
    covers.blocks               Attention heads and blocks of Edelman et al. (2022) as pure functions of their weights.
    covers.capacity             Capacity of a class of functions: Rademacher complexity, Dudley's integral, Zhang's cover.
    covers.linear               Covers of linear maps x -> Wx: explicit ones, greedy ones, lower bounds, and the printed bounds.
    covers.lipschitz            How far attention moves when its weights or its inputs move: both sides of each inequality.

Nets and sharpness::

    nets                        The learned models: pure functions of their weights.
    nets.attention              What the heads of one layer write, in three ways that are equal up to rounding.
    nets.baselines              Feedforward and recurrent nets in the form of :mod:`helpers.nets.transformer`: pure functions.
    nets.feedforward            The feedforward block with the layer norms round it, one model after the other.
    nets.fused                  Pieces of a layer in one call each, models taken as a cache holds them.
    nets.lean                   The first paper's transformer with its work merged, exactly.
    nets.norm                   Layer norm, one formula for every model: a row minus its mean, over its deviation.
    nets.spec                   What a transformer is, apart from its weights, and which weights that asks for.
    nets.transformer            One functional transformer encoder; a module that has another model says why.
    sharpness                   How sharp a loss is around given weights: Hessian traces, perturbed losses, blow-up.
    sharpness.blowup            How much layer norms can magnify what they are given.
    sharpness.gradients         Gradients of a model's output at each input, in each weight.
    sharpness.perturbed         Losses and outputs when the weights move at random: means, remainders, direction sharpness.
    sharpness.point             A loss at given weights: which of them move, its products with the Hessian, what memory holds.
    sharpness.traces            Trace of the Hessian of a loss: exact, Gauss-Newton, Hutchinson, Hutch++, XTrace.

Rooms of the parts::

    sharper                     What the chapters on *A Sharper Picture of Generalization in Transformers* need.
    sharper.chain_of_thought    PARITY by a chain of thought: a two-attention transformer run n times, with weights set by hand.
    sharper.circuits            The first paper's smallest model: attention, one number a token, a narrow net, a linear head.
    sharper.elementwise         Functions of numbers or of tensors that broadcast: one decorator, range checks, a bisection.
    sharper.gradients           The gradient of the hand-written network, block by block: measured, in closed form, searched.
    sharper.learnable           Networks built by hand as weights of learned models: one function, one parameter space.
    sharper.network             The two-attention transformer that computes a sparse sum of parities, with weights set by hand.
    sharper.noisy               The hand-written network near its weights: its Hessian, and the trace of a noisy copy, bounded.
    sharper.norms               Sizes of the hand-written network of :mod:`helpers.sharper.network`, and its balance.
    sharper.pac_bayes           The paper's PAC-Bayes bound on the risk of networks near the hand-written one.
    sharper.perturbed           The hand-written network of :mod:`helpers.sharper.network` under Gaussian noise: our bounds.
    sharper.projected           The two-attention transformer on random codes of its positions, to make it narrower.
    sharper.rivals              Rivals of the paper's bound: the kl form of PAC-Bayes, and Occam's bound.
    sharper.samples             Learning sparse functions from random strings: data, the recipe that converges, and the gap.
    sharper.semi_analytic       The semi-analytic bound: what noise on the hand-written network costs, measured by drawing it.
    sharper.tabulated           What noise on the hand-written network costs, in the closed forms of the authors' notebook.
    sensitive                   What the chapters on *Why are Sensitive Functions Hard for Transformers?* need.
    sensitive.automata          Finite automata, and how sensitive a step of one and its last state are.
    sensitive.blowup            Layer norm's magnification of one bit, in transformers as Hahn and Rofin (2024) define them.
    sensitive.brittle           The second paper's learned models: four functions of one length, and how brittle a fit is.
    sensitive.completions       Functions learned from a part of the cube: how sensitive, and how sharp where.
    sensitive.influence         How far one bit of the input moves an attention head, in the first layer and in later ones.
    sensitive.isolation         Random steps in weight space, and what they do to the transformer that computes PARITY.
    sensitive.parity            PARITY written by hand: as two nested majority votes, and as a transformer with layer norm.
    sensitive.random_nets       Untrained nets as functions of bits: how sensitive they are, and by which draw of weights.
    sensitive.scratchpads       Models that compute PARITY with a scratchpad: they write each state down before the next step.
    sensitive.slope_test        The test of slope 0 behind a correlation: from r and the number of points to p, and back.
    sensitive.steps             What a random step in weight space leaves of a transformer's sensitivity.
    sensitive.two_norms         Layer norm behind attention as well: the second paper's model with two norms in each layer.
    variables                   What the chapters on *Inductive Biases and Variable Creation* need.
    variables.attention_covers  Covers of linear layers by members of the class: each is the end of a short walk from 0.
    variables.lookup            ReLU nets that look values up, and whole transformers for any function of s hidden bits.
    variables.planted           Planted functions: a gate on s hidden bits among T, learned by the third paper's small model.
    variables.selection         Attention heads, written by hand, that read s chosen bits among T: sparse variable creation.
    lengthfree                  What the chapters on sequence-length-free bounds need.
    lengthfree.deep_covers      Log covering numbers of deep transformers from any linear cover: printed, proved, repaired.
    lengthfree.majority_steps   Training steps of :class:`helpers.lengthfree.majority_task.Run`, compiled: one model at a time.
    lengthfree.majority_task    Sparse majority: the task, and the one-layer model of Trauger and Tewari's public program.
    lengthfree.masked_words     Word masking: cross entropy over K words, and what it costs to have K scores in place of one.
    lengthfree.single_layer     One attention layer with a linear read-out: its class, and bounds on its Rademacher complexity.
    retrieval                   What the chapters on sparse token regression need.
    retrieval.attention         Attention that retrieves the tokens pointed at, with weights written by hand.
    retrieval.heads             How much H attention heads let through of q tokens, when the label is a sum of squares.
    retrieval.hierarchy         Prompts that three architectures need to learn sparse token regression.
    retrieval.memory            What the state of a recurrent net can hold: codes, quantisers, interpolants, and what none can.
    retrieval.pointwise         Retrieval learned from one labelled token a prompt, as the point-wise risk has it.
    retrieval.random_encodings  Encodings of positions that are far from each other: how likely random signs are to be so.
    retrieval.recurrent         A bidirectional recurrent net that solves the simple retrieval task, with weights by hand.
    retrieval.span              What a feedforward net can know when its first layer stays in the span of the data.
    retrieval.task              q-sparse token regression, and the one-layer attention model that learns it.
    retrieval.token_covers      Sizes behind the guarantee for retrieval: lengths of tokens, covers of query-key matrices.
    beyond                      What the chapters beyond the papers need.
    beyond.audit                How often does a certificate fail? A simulation in which every risk is known.
    beyond.certificates         Certificates of trained networks: diagonal Gaussians over their weights, fitted to a kl bound.
    beyond.parity_head          One attention layer that learns the parity of two bits, small enough to be in every bound.
    beyond.signed               The hand-written transformer for every function of n bits: any signs, any degrees, any sparsity.
    beyond.small_noise          What small Gaussian noise on the weights costs, and the rates at which certificates then fall.

The book's machinery::

    book                        The book's machinery: what a chapter asserts and shows, and what executes and renders it.
    book.builds                 What a build need not do: a Sphinx extension.
    book.chapters               What can be known of a chapter without running it: its parameters, its key, its record.
    book.claims                 What a chapter asserts: claims that can fail, each with the control that makes it fail.
    book.cluster                The Dask cluster that chapters are mapped over: the one that is named, or one of our own.
    book.colophon               What stands below every page: the edition that it belongs to, and how to cite a chapter.
    book.definitions            Which definitions of the package a source reaches, and a hash of each.
    book.dependencies           What rests on what: a Sphinx extension that draws the results of a paper and what they use.
    book.excerpts               Figures of chapters on other pages: a Sphinx extension with one directive.
    book.execution              Execute one chapter: as a notebook by papermill, or plainly as the script that it is.
    book.figures                One look for every figure: opaque, legible in the dark, told apart without colour.
    book.findings               What did not come out as its source has it: a finding of a chapter, and the page of them.
    book.formulas               How wide an inline formula will be, so that a page keeps its room until MathJax has set it.
    book.glossary               The glossary: its terms show their definition where they stand. A Sphinx extension.
    book.icons                  The theme's icons without its library of 2,000: a Sphinx extension.
    book.jobs                   What the runner is to do, and for how long: executions, what they need, and the time left.
    book.key                    Why a chapter is stale: the pieces of its key, and where they are kept.
    book.maps                   The map of a part: a Sphinx extension with one directive.
    book.moving                 Moving figures: a slider and a drawing over numbers that the chapter computed and stored.
    book.narrow                 Figures on a phone: a Sphinx extension that shows their panels one under another.
    book.output                 What a cell leaves on the page: numbers for the prose, and outputs in more than one form.
    book.own                    The ledger and the stored results of a reader's own book: by its register, from its folder.
    book.pages                  What the rendered pages add to their theme: a Sphinx extension.
    book.parameters             The parameters of a chapter: literals of one cell, with their ranges, checked by runner and page.
    book.pdf                    Print the rendered book as one PDF: ``python -m helpers.book.pdf``, or ``make pdf``.
    book.place                  Where a book lies: the folder that is named, else the one around the current folder.
    book.reference              The reference of the code, and the links to it from the code of every page: a Sphinx extension.
    book.register               The register: every result of the papers, where its statement comes from, who owes the check.
    book.results                Paper-scale results: a CSV beside a JSON that says how it was made.
    book.scale                  The page *At what scale*: for every experiment the paper's size, what is stored, what it cost.
    book.scoreboard             The scoreboard, the findings and the verdict cards: built from what the notebooks recorded.
    book.sources                What the sources of ``helpers`` say of themselves: public names, signatures, docstrings.
    book.storing                What comes of a run, on the disk: its notebook with its key, its tables, or why it failed.
    book.syntax                 Syntax trees as text: the same for every Python, without comments, docstrings and layout.
    book.table                  Tables: a real table on the page, aligned text for nbval and the terminal, by one call.
    book.tolerance              A pytest plugin: nbval compares decimals with a tolerance, and everything else exactly.
    book.verdicts               From claims to verdicts: what is said of a result as its paper states it, and what is known now.
    book.volume                 The whole book as one document to print, put together from the rendered pages.
    book.watch                  Show the book while it is written: ``make watch`` serves it here and follows every change.
    book.words                  The words of a chapter, by one import: ledger, tables, numbers in prose, figures, stored runs.
    run                         Execute chapters: ``python -m helpers.run [CHAPTER ...]``.
"""
