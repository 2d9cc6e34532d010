const most = 4_000
const longest = 200

/**
 * Returns a pure function that remembers what it gave for the last texts: one lookup asks for the same name a dozen times, as an
 * identifier, a name and a value. What it gives is shared and must not be changed. Long texts are not remembered.
 */
export function remembering<Result extends object>(of: (text: string) => Result): (text: string) => Result {
  const known = new Map<string, Result>()
  return (text) => {
    const before = known.get(text)
    if (before) return before
    const result = Object.freeze(of(text))
    if (text.length > longest) return result
    if (known.size >= most) known.clear()
    known.set(text, result)
    return result
  }
}
