export function isAllowed(expression: string): boolean
export function productionLicences(): { name: string; version: string; licence: string }[]
