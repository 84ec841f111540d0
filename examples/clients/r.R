# read.csv on the URL itself.
table <- read.csv(commandArgs(trailingOnly = TRUE)[1], check.names = FALSE)
order <- c("date", "value", sort(setdiff(names(table), c("date", "value"))))
table$value <- ifelse(is.na(table$value), "", sprintf("%.10g", table$value))
write.table(table[order], sep = ",", quote = FALSE, row.names = FALSE)
