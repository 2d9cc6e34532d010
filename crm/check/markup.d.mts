export interface Element {
  name: string
  attributes: Map<string, string>
  children: (Element | { text: string; line: number })[]
  line: number
}
/** Returns the root element. Throws with the line of anything that is not well-formed. */
export function parseMarkup(source: string, options?: { isTemplate?: boolean }): Element
export function elementsOf(element: Element): Element[]
export function textOf(element: Element, name: string): string | undefined
export function all(element: Element, name: string): Element[]
