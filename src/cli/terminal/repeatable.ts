import { Option } from 'commander'

/** Returns an option that may be given several times. Its value is the list of all values, empty by default. */
export function repeatable(flags: string, description: string): Option {
  return new Option(flags, `${description}; repeatable`)
    .argParser((value, before: string[]) => [...before, value])
    .default([], 'none')
}
