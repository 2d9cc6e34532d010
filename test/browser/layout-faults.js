/* Runs inside a page. Defines `layoutFaults()`, which returns what a person could not read or reach on it, as sentences. */
globalThis.layoutFaults = ({ scope = 'html' } = {}) => {
  const faults = new Set()
  const root = document.querySelector(scope)
  const page = document.documentElement
  const controls = 'a[href], button, summary, input:not([type=hidden]), select, textarea'
  const name = (element) => {
    const words = (element.getAttribute('aria-label') ?? element.textContent ?? '')
      .trim()
      .replace(/\s+/g, ' ')
    const place = element.closest('[id]')
    return `${element.tagName.toLowerCase()}${element.className && typeof element.className === 'string' ? `.${element.className.trim().replaceAll(' ', '.')}` : ''} "${words.slice(0, 40)}" in #${place ? place.id : '?'}`
  }
  const isShown = (element) =>
    element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) &&
    !(element.closest('.visually-hidden, .skip, caption') || isOutOfSight(element))
  /* The head of a table on a phone is there for screen readers only. */
  const isOutOfSight = (element) => {
    const clipped = element.closest('thead')
    return clipped !== null && getComputedStyle(clipped).clipPath !== 'none'
  }

  if (page.scrollWidth > page.clientWidth) {
    const widest = [...root.querySelectorAll('*')]
      .filter((element) => isShown(element) && element.getBoundingClientRect().right > page.clientWidth + 1)
      .at(-1)
    faults.add(
      `the page is ${page.scrollWidth} wide in ${page.clientWidth}${widest ? `: ${name(widest)}` : ''}`,
    )
  }

  /* Returns the part of a rectangle that the boxes around an element leave visible. */
  function visiblePart(rect, element, first = element.parentElement) {
    let { left, right, top, bottom } = rect
    for (let around = first; around; around = around.parentElement) {
      const { overflowX, overflowY, position } = getComputedStyle(around)
      if (overflowX !== 'visible' || overflowY !== 'visible') {
        const clip = around.getBoundingClientRect()
        if (overflowX !== 'visible') [left, right] = [Math.max(left, clip.left), Math.min(right, clip.right)]
        if (overflowY !== 'visible') [top, bottom] = [Math.max(top, clip.top), Math.min(bottom, clip.bottom)]
      }
      if (position === 'fixed') break
    }
    return { left, right, top, bottom }
  }
  const isEmpty = ({ left, right, top, bottom }) => right - left < 1 || bottom - top < 1

  const shownControls = [...root.querySelectorAll(controls)].filter(isShown)
  for (const control of shownControls) checkReach(control)

  function checkReach(control) {
    for (const rect of control.getClientRects()) {
      if (rect.left < -1 || rect.right > page.clientWidth + 1) {
        faults.add(
          `off-screen: ${name(control)} (${Math.round(rect.left)} to ${Math.round(rect.right)} of ${page.clientWidth})`,
        )
        return
      }
      if (isEmpty(visiblePart(rect, control)) && rect.width > 0 && !isClamped(control)) {
        faults.add(`hidden by the box around it: ${name(control)}`)
        return
      }
    }
    const pinned = pinnedTo(control)
    const { top, bottom } = control.getBoundingClientRect()
    if (pinned && (top < -1 || bottom > innerHeight + 1))
      faults.add(
        `out of reach, because its box does not scroll: ${name(control)} (${Math.round(top)} to ${Math.round(bottom)} of ${innerHeight})`,
      )
  }
  /* A link in a text that is cut off after some lines is read in full elsewhere. */
  const isClamped = (element) => element.closest('.clamped') !== null
  function pinnedTo(element) {
    for (let around = element; around; around = around.parentElement) {
      const { position, overflowY } = getComputedStyle(around)
      if (overflowY === 'auto' || overflowY === 'scroll') return undefined
      if (position === 'fixed' || position === 'sticky') return around
    }
    return undefined
  }

  /* Spending is stopped and resumed without scrolling, whatever stands beside the button. */
  for (const control of root.querySelectorAll('#spending summary')) {
    if (isShown(control) && control.getBoundingClientRect().bottom > innerHeight)
      faults.add(`below the first screen: ${name(control)}`)
  }

  const boxes = []
  for (const control of shownControls) {
    if (control.tagName === 'A' && getComputedStyle(control).display === 'inline') continue
    boxes.push({ owner: control, rect: visiblePart(control.getBoundingClientRect(), control) })
  }
  for (const picture of root.querySelectorAll('svg, canvas, img')) {
    if (isShown(picture))
      boxes.push({ owner: picture, rect: visiblePart(picture.getBoundingClientRect(), picture) })
  }
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const owner = node.parentElement
    if (!owner || !node.nodeValue.trim() || ['SCRIPT', 'STYLE', 'TITLE', 'OPTION'].includes(owner.tagName))
      continue
    if (!isShown(owner) || owner.closest('svg')) continue
    const range = document.createRange()
    range.selectNodeContents(node)
    for (const line of range.getClientRects()) {
      // The rectangle of a line holds accents and descenders that the next line may touch.
      const trim = line.height * 0.25
      const rect = visiblePart(
        { left: line.left, right: line.right, top: line.top + trim, bottom: line.bottom - trim },
        owner,
        owner,
      )
      boxes.push({ owner, rect, node })
    }
  }
  function layerOf(element) {
    const layer = element.closest('details[open] > form')
    return layer !== null && getComputedStyle(layer).position === 'absolute' ? layer : null
  }
  const sorted = boxes.filter(({ rect }) => !isEmpty(rect)).sort((a, b) => a.rect.top - b.rect.top)
  let open = []
  for (const box of sorted) {
    open = open.filter(({ rect }) => rect.bottom > box.rect.top + 1)
    for (const other of open) {
      if (other.node && other.node === box.node) continue
      // An open disclosure covers the page where its content is laid over it.
      if (layerOf(box.owner) !== layerOf(other.owner)) continue
      const contains = (a, b) => !a.node && a.owner.contains(b.owner)
      if (contains(box, other) || contains(other, box)) continue
      const width = Math.min(box.rect.right, other.rect.right) - Math.max(box.rect.left, other.rect.left)
      const height = Math.min(box.rect.bottom, other.rect.bottom) - box.rect.top
      if (width > 2 && height > 2) faults.add(`overlap: ${name(other.owner)} and ${name(box.owner)}`)
      if (faults.size > 20) return [...faults]
    }
    open.push(box)
  }

  /* The content of a disclosure can be reached too. One of each kind and place is enough. */
  const seen = new Set()
  for (const details of root.querySelectorAll('details:not([open])')) {
    if (!isShown(details)) continue
    const kind = `${details.className} ${details.closest('[id]')?.id}`
    if (seen.has(kind)) continue
    seen.add(kind)
    details.open = true
    if (page.scrollWidth > page.clientWidth)
      faults.add(`the page is ${page.scrollWidth} wide in ${page.clientWidth} when ${name(details)} is open`)
    for (const control of details.querySelectorAll(controls)) {
      if (!isShown(control)) continue
      checkReach(control)
      if (control.getBoundingClientRect().top + scrollY < 0) faults.add(`above the page: ${name(control)}`)
    }
    details.open = false
  }
  return [...faults]
}
