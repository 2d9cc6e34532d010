export function nextVersion(version: string, part: string): string
export function released(changelog: string, version: string, date: string): string
