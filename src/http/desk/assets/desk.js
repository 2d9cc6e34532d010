/* Live updates: replaces the parts of a page that change. Every page works without this file. */
;(() => {
  const page = document.body.dataset.live
  if (!page || !('EventSource' in window)) return

  let source
  function listen() {
    if (source || document.hidden) return
    source = new EventSource('/desk/events?page=' + encodeURIComponent(page))
    source.addEventListener('region', (event) => {
      const { id, html } = JSON.parse(event.data)
      const region = document.getElementById(id)
      if (region) replace(region, html)
      document.documentElement.dataset.liveAt = String(Date.now())
    })
    source.addEventListener('signed-out', () => {
      leave()
      location.reload()
    })
  }
  function leave() {
    if (source) source.close()
    source = undefined
  }

  /* Leaves a region alone while the visitor has a confirmation open in it. */
  function replace(region, html) {
    if (region.querySelector('details[open]') && region.contains(document.activeElement)) return
    const next = region.cloneNode(false)
    next.innerHTML = html
    morph(region, next)
  }

  /* Changes only the nodes that differ, so that focus, selection and transitions survive. */
  function morph(from, to) {
    const [old, fresh] = [[...from.childNodes], [...to.childNodes]]
    for (let i = 0; i < Math.max(old.length, fresh.length); i++) {
      const [a, b] = [old[i], fresh[i]]
      if (!b) a.remove()
      else if (!a) from.append(b)
      else if (a.nodeType !== b.nodeType || a.nodeName !== b.nodeName) a.replaceWith(b)
      else if (a.nodeType !== Node.ELEMENT_NODE) {
        if (a.nodeValue !== b.nodeValue) a.nodeValue = b.nodeValue
      } else {
        for (const { name } of Array.from(a.attributes)) {
          if (!b.hasAttribute(name) && !(a.nodeName === 'DETAILS' && name === 'open')) a.removeAttribute(name)
        }
        for (const { name, value } of b.attributes) {
          if (a.getAttribute(name) !== value) a.setAttribute(name, value)
        }
        morph(a, b)
      }
    }
  }

  document.addEventListener('visibilitychange', () => (document.hidden ? leave() : listen()))
  addEventListener('pagehide', leave)
  listen()
})()

/* Closes an open confirmation on Escape or on a click elsewhere. */
;(() => {
  const close = (except) => {
    for (const ask of document.querySelectorAll('details.ask[open]')) {
      if (ask !== except) ask.removeAttribute('open')
    }
  }
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return
    const inside = document.activeElement && document.activeElement.closest('details.ask[open]')
    if (inside) inside.querySelector('summary').focus()
    close()
  })
  document.addEventListener('click', (event) => close(event.target.closest('details.ask')))
})()
