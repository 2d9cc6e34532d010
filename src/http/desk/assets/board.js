/*
 * Gives bull-board the theme of the desk. It runs before the board's own scripts, which read their theme from the storage of
 * the browser and follow the system unless it says otherwise.
 */
;(() => {
  const key = 'board-settings'
  const theme = document.documentElement.dataset.theme
  const wanted = theme === 'light' || theme === 'dark' ? theme : 'system'
  try {
    const kept = JSON.parse(localStorage.getItem(key)) || { state: {}, version: 2 }
    if (kept.state.theme === wanted) return
    kept.state.theme = wanted
    localStorage.setItem(key, JSON.stringify(kept))
  } catch {
    // The storage is blocked or holds something else: the board follows the system.
  }
})()
