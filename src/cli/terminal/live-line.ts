/** The last line of a terminal, drawn again in its place: what a command is doing, while it is doing it. */
export interface LiveLine {
  isTerminal: boolean
  /** Shows a text behind a turning sign until the next text, or until the end. Does nothing where there is no terminal. */
  show(text: string): void
  /** Takes the line away for something that is printed. It comes back with its next turn. */
  clear(): void
  end(): void
}

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const turnMs = 80
const erased = '\r\u001b[2K'

/**
 * Creates the line of a stream. It hides no cursor and listens for no signals, as libraries for this do: those end the
 * process at the first Ctrl-C, which here stops a run cleanly.
 */
export function createLiveLine(stream: NodeJS.WriteStream): LiveLine {
  const isTerminal = stream.isTTY === true && process.env['TERM'] !== 'dumb'
  let shown = ''
  let isDrawn = false
  let turn = 0
  let timer: NodeJS.Timeout | undefined

  function draw(): void {
    const sign = frames[turn++ % frames.length]
    stream.write(`${erased}${`${sign} ${shown}`.slice(0, (stream.columns || 80) - 1)}`)
    isDrawn = true
  }
  function clear(): void {
    if (isDrawn) stream.write(erased)
    isDrawn = false
  }

  return {
    isTerminal,
    show(text) {
      if (!isTerminal) return
      shown = text
      draw()
      timer ??= setInterval(draw, turnMs).unref()
    },
    clear,
    end() {
      clearInterval(timer)
      timer = undefined
      clear()
    },
  }
}

/** Results may stand on standard output, so this line is on standard error. */
export const liveLine = createLiveLine(process.stderr)
