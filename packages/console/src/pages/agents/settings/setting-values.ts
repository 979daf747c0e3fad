/** Values of settings in an entry: read and written by path; quantities with units; references to the environment. Pure. */
import { isRecord, type SettingUnit } from './setting-fields.ts'

export type Entry = Readonly<Record<string, unknown>>

export function settingAt(entry: Entry, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, key) => (isRecord(at) && Object.hasOwn(at, key) ? at[key] : undefined), entry)
}

/** `undefined` removes the setting, and the section that is empty then. */
export function withSetting(entry: Entry, path: readonly string[], value: unknown): Entry {
  const [key = '', ...rest] = path
  if (rest.length === 0) return withKey(entry, key, value)
  const inner = isRecord(entry[key]) ? entry[key] : {}
  const changed = withSetting(inner, rest, value)
  return withKey(entry, key, Object.keys(changed).length === 0 ? undefined : changed)
}

function withKey(entry: Entry, key: string, value: unknown): Entry {
  if (value !== undefined) return { ...entry, [key]: value }
  const { [key]: _, ...others } = entry
  return others
}

/** How many settings below the path are set. */
export function countSet(value: unknown): number {
  if (!isRecord(value)) return value === undefined ? 0 : 1
  return Object.values(value).reduce<number>((sum, one) => sum + countSet(one), 0)
}

export interface Quantity {
  readonly amount: string
  readonly unit: string
}

export const unitsOf: Readonly<Record<SettingUnit, readonly string[]>> = {
  duration: ['ms', 's', 'm', 'h', 'd'],
  size: ['B', 'kB', 'MB', 'GB'],
  rate: ['/s', '/min', '/h', '/d'],
}

const aliases: Readonly<Record<string, string>> = { '/sec': '/s', '/hour': '/h', '/day': '/d' }

/** `undefined` for a text with another form, such as a reference to the environment. */
export function parseQuantity(value: unknown, unit: SettingUnit): Quantity | undefined {
  if (unit === 'size' && typeof value === 'number') return { amount: String(value), unit: 'B' }
  if (typeof value !== 'string') return undefined
  if (value === 'none') return { amount: '', unit: 'none' }
  const [, amount = '', given = ''] = /^(\d+(?:\.\d+)?)(\/?[A-Za-z]+)$/.exec(value) ?? []
  const known = aliases[given] ?? given
  return unitsOf[unit].includes(known) ? { amount, unit: known } : undefined
}

export function formatQuantity({ amount, unit }: Quantity): string | undefined {
  if (unit === 'none') return 'none'
  return amount.trim() === '' ? undefined : `${amount.trim()}${unit}`
}

/** The variable of a value that is a reference and nothing else. */
export function environmentVariable(value: unknown): string | undefined {
  return typeof value === 'string' ? /^\$\{env:([^}]*)\}$/.exec(value)?.[1] : undefined
}

/** The secret that the hub keeps, likewise. */
export function hubSecret(value: unknown): string | undefined {
  return typeof value === 'string' ? /^\$\{hub:([^}]*)\}$/.exec(value)?.[1] : undefined
}

export function environmentReference(name: string): string {
  return `\${env:${name}}`
}

/** How the hub shows a secret, which stays what it is. */
export const hiddenSecret = '(not shown)'

/** A value of a map that may hold numbers and booleans, as typed. */
export function parseScalar(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true'
  return /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text) ? Number(text) : text
}
