/** As many answers as are under way at a time, as a rule. */
const mostKept = 128
/** V8 finds longer texts by their length alone. */
const longestKept = 16_000
/**
 * A document that nobody drops is forgotten after so long: that of a free answer, of one that could not be stored, of one that
 * was decoded in part. Answers hold personal data, and a process may live for months.
 */
const forgetAfterMs = 30_000

/** The documents of answers that are not through yet, by their texts. */
const kept = new Map<string, object>()
let forgetting: NodeJS.Timeout | undefined

/**
 * Keeps what the text of an answer was parsed to. An answer is read as a record, then for its cost, and for its fields, words and
 * warnings once it is stored, with other answers in between: it is parsed once for all of these. Nobody may change a document.
 */
export function keepDocument(text: string, document: object): void {
  if (text.length > longestKept) return
  if (kept.size >= mostKept) kept.delete(kept.keys().next().value as string)
  kept.set(text, document)
  forgetting ??= setTimeout(forgetAll, forgetAfterMs).unref()
}

/** An answer that is under way is parsed once more. */
function forgetAll(): void {
  kept.clear()
  forgetting = undefined
}

/** Returns the document of an answer that is not through yet; undefined where none is kept. */
export function keptDocument(text: string): object | undefined {
  return text.length > longestKept ? undefined : kept.get(text)
}

/** Called by the last reader of an answer. */
export function dropDocument(text: string): void {
  if (text.length <= longestKept) kept.delete(text)
}
