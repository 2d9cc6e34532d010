import type { Command } from 'commander'
import type { Shell } from '../terminal/choices.ts'
import { print } from '../terminal/print.ts'
import { bashScript } from './bash.ts'
import { wordsOf, type CommandWords } from './command-words.ts'
import { fishScript } from './fish.ts'
import { zshScript } from './zsh.ts'

const scripts: Record<Shell, (program: CommandWords) => string> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
}

/** The script knows every word by itself: a press of Tab starts no program. */
export function completion(shell: Shell, _options: object, command: Command): void {
  print(scripts[shell](wordsOf(command.parent ?? command)))
}
