/**
 * Prints rows under their column names, numbers aligned right, on standard error. Standard output is for results as
 * JSON.
 */
export function printTable(title: string, rows: readonly object[]): void {
  const [first] = rows
  if (!first) return
  const names = Object.keys(first)
  const cells = [
    names,
    ...rows.map((row) => names.map((name) => String((row as Record<string, unknown>)[name] ?? ''))),
  ]
  const widths = names.map((_, column) => Math.max(...cells.map((row) => (row[column] as string).length)))
  const lines = cells.map((row, line) =>
    row
      .map((cell, column) => {
        const isText = line === 0 ? isNaN(Number(cells[1]?.[column])) : isNaN(Number(cell))
        return isText ? cell.padEnd(widths[column] as number) : cell.padStart(widths[column] as number)
      })
      .join('  ')
      .trimEnd(),
  )
  process.stderr.write(`\n${title}\n${lines.join('\n')}\n`)
}

export function round(value: number, digits = 1): number {
  return Number(value.toFixed(digits))
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
}
