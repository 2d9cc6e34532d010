/** An array or object that is still open. `end` is where its last complete element ends. */
interface Open {
  isArray: boolean
  end: number
  isEmpty: boolean
}

const maxDepth = 1_000

/**
 * Returns the complete part of a JSON text of which only the beginning was read, closed so that it can be parsed. An element
 * of a list that is not complete is left out as a whole: half an entry would look like an entry with nothing found.
 * Undefined when nothing complete is in it.
 */
export function closeCutJson(text: string): string | undefined {
  const open = openAtEnd(text)
  const firstArray = open.findIndex(({ isArray }) => isArray)
  const kept = firstArray === -1 ? open : open.slice(0, firstArray + 1)
  // A list without a complete element says nothing, and `[]` would say that nothing was found.
  while (kept.at(-1)?.isEmpty) kept.pop()
  const last = kept.at(-1)
  if (!last) return undefined
  const closed =
    text.slice(0, last.end) +
    kept
      .map(({ isArray }) => (isArray ? ']' : '}'))
      .reverse()
      .join('')
  try {
    JSON.parse(closed)
    return closed
  } catch {
    return undefined
  }
}

/** Returns the arrays and objects that are open at the end of the text, the outermost first. */
function openAtEnd(text: string): Open[] {
  const open: Open[] = []
  let isQuoted = false
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at]
    if (isQuoted) {
      if (sign === '\\') at += 1
      else if (sign === '"') isQuoted = false
      continue
    }
    if (sign === '"') isQuoted = true
    else if (sign === '{' || sign === '[') {
      // No answer is nested like this, and two million open lists would be a hundred megabytes.
      if (open.length >= maxDepth) return []
      open.push({ isArray: sign === '[', end: at + 1, isEmpty: true })
    } else if (sign === '}' || sign === ']') {
      open.pop()
      complete(open.at(-1), at + 1)
    } else if (sign === ',') complete(open.at(-1), at)
  }
  return open
}

function complete(container: Open | undefined, end: number): void {
  if (!container) return
  container.end = end
  container.isEmpty = false
}
