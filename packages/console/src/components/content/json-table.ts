/** Lists of objects as tables: which lists qualify, and their columns. */
import { previewOf } from './json-preview.ts'

export type TableRow = Readonly<Record<string, unknown>>

export const maxTableColumns = 24

/** Whether a value is a list of objects with few enough columns. */
export function isObjectList(value: unknown): value is readonly TableRow[] {
  if (!Array.isArray(value) || value.length === 0 || !value.every(isFilledObject)) return false
  return tableColumns(value, maxTableColumns + 1).length <= maxTableColumns
}

/** Whether all cells are plain values, so that the table shows everything. */
export function isFlatTable(value: unknown): value is readonly TableRow[] {
  return (
    isObjectList(value) &&
    value.every((row) => Object.values(row).every((cell) => typeof cell !== 'object' || cell === null))
  )
}

function isFilledObject(row: unknown): row is TableRow {
  return typeof row === 'object' && row !== null && !Array.isArray(row) && Object.keys(row).length > 0
}

/** All names, in the order of their first use; no more than `limit`. */
export function tableColumns(rows: readonly TableRow[], limit = Infinity): readonly string[] {
  const names = new Set<string>()
  for (const row of rows) {
    for (const name of Object.keys(row)) names.add(name)
    if (names.size >= limit) break
  }
  return [...names]
}

const maxNestedLength = 60

export function cellText(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : previewOf(value, maxNestedLength)
}

/** Rows that are examined to tell whether a column holds numbers. */
const sampleSize = 100
const digits = /^(-?\d+([.,]\d+)*)?$/

/** `isText`: the cells come from a text file, in which anything that looks like a number is one. */
export function isNumericColumn(rows: readonly TableRow[], name: string, isText: boolean): boolean {
  return rows.slice(0, sampleSize).every((row) => {
    const value = row[name]
    const isNumber = value === undefined || value === null || typeof value === 'number'
    return isNumber || (isText && typeof value === 'string' && digits.test(value))
  })
}

/** By numbers if both are, else as text; missing values last. */
export function compareCells(one: unknown, other: unknown): number {
  const [a, b] = [cellText(one), cellText(other)]
  if (a === '' || b === '') return a === b ? 0 : a === '' ? 1 : -1
  const [x, y] = [Number(a), Number(b)]
  return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b, 'en', { numeric: true }) : x - y
}
