# Reads differences, layouts and wins against losses from a folder, and prints what R has for each: kind, row, numbers.
folder <- commandArgs(trailingOnly = TRUE)[1]
show <- function(kind, row, ...) cat(kind, row, sprintf("%.17g", c(...)), "\n")
numbers <- function(name) lapply(strsplit(readLines(file.path(folder, name)), " "), as.numeric)

pvalues <- c()
for (row in seq_along(differences <- numbers("differences.txt"))) {
  x <- differences[[row]]
  if (length(unique(x)) > 1) {
    tested <- t.test(x)
    show("t", row, tested$p.value, tested$conf.int)
    pvalues <- c(pvalues, tested$p.value)
  }
  y <- x[x != 0]
  is_tied <- anyDuplicated(abs(y)) > 0
  is_exact <- length(y) <= 50 && !is_tied
  if (length(y) > 1 && !(is_tied && length(y) <= 13)) { # where R is not exact, and we are
    tested <- suppressWarnings(wilcox.test(y, exact = is_exact, correct = FALSE, conf.int = length(y) > 5))
    kind <- if (is_exact) "wilcoxon" else if (is_tied) "wilcoxon-tied" else "wilcoxon-normal"
    show(kind, row, tested$p.value, if (!is_tied) c(tested$conf.int, tested$estimate))
  }
}
for (row in seq_along(counts <- numbers("counts.txt"))) {
  w <- counts[[row]][1]
  l <- counts[[row]][2]
  show("sign", row, binom.test(w, w + l)$p.value)
  show("mcnemar", row, mcnemar.test(matrix(c(9, w, l, 9), 2), correct = FALSE)$p.value)
}
show("p", 1, pvalues)
for (method in c("holm", "bonferroni", "BH")) show(method, 1, p.adjust(pvalues, method))
for (row in seq_along(layouts <- numbers("layouts.txt"))) {
  shape <- layouts[[row]][1:2]
  cells <- expand.grid(query = factor(seq_len(shape[2])), run = factor(seq_len(shape[1])))
  cells$value <- layouts[[row]][-(1:2)]
  model <- aov(value ~ run + query, cells)
  fitted <- TukeyHSD(model, "run")$run # of the second run minus the first; it rounds p
  df <- model$df.residual
  q <- abs(fitted[, "diff"]) / sqrt(sum(model$residuals^2) / df / shape[2])
  show("hsd", row, ptukey(q, shape[1], df, lower.tail = FALSE), -fitted[, "upr"], -fitted[, "lwr"])
}
