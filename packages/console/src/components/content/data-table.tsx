/** Objects as the rows of a table, which scrolls by itself. A click on a column sorts by it. */
import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { formatCount } from '../format.ts'
import { cellText, compareCells, isNumericColumn, tableColumns, type TableRow } from './json-table.ts'
import './data-table.css'

const rowsPerPage = 100

interface Sorting {
  readonly column: string
  readonly isDescending: boolean
}

export function DataTable({
  rows,
  isText = false,
  search = '',
}: {
  readonly rows: readonly TableRow[]
  /** The cells come from a text file: numbers are text that looks like one. */
  readonly isText?: boolean
  /** In lower case. Cells that contain it are highlighted. */
  readonly search?: string
}) {
  const shown = useSignal(rowsPerPage)
  const sorting = useSignal<Sorting | undefined>(undefined)
  const columns = useMemo(() => tableColumns(rows), [rows])
  const numeric = useMemo(() => new Set(columns.filter((name) => isNumericColumn(rows, name, isText))), [rows, columns])
  const sorted = useMemo(() => sortRows(rows, sorting.value), [rows, sorting.value])
  const sortBy = (column: string): void => {
    const { value } = sorting
    // Up, then down, then as they came.
    if (value?.column !== column) sorting.value = { column, isDescending: false }
    else sorting.value = value.isDescending ? undefined : { column, isDescending: true }
  }
  return (
    <>
      <div class="panel data-table" tabIndex={0} role="group" aria-label="Table">
        <table class="data">
          <thead>
            <tr>
              {columns.map((name) => (
                <th
                  key={name}
                  scope="col"
                  class={numeric.has(name) ? 'number' : ''}
                  aria-sort={sortOf(sorting.value, name)}
                >
                  <button type="button" class="data-table-sort" title={`Sort by ${name}`} onClick={() => sortBy(name)}>
                    <bdi>{name}</bdi>
                    <span aria-hidden="true">{arrowOf(sorting.value, name)}</span>
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {sorted.slice(0, shown.value).map((row, index) => (
              <tr key={index}>
                {columns.map((name) => (
                  <td key={name} dir="auto" class={cellClass(row[name], numeric.has(name), search)}>
                    {cellText(row[name])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > shown.value && (
        <button type="button" class="small data-table-more" onClick={() => (shown.value += rowsPerPage * 10)}>
          Show more of {formatCount(rows.length - shown.value)} remaining rows
        </button>
      )}
    </>
  )
}

function sortRows(rows: readonly TableRow[], sorting: Sorting | undefined): readonly TableRow[] {
  if (sorting === undefined) return rows
  const { column, isDescending } = sorting
  return rows.toSorted((one, other) => (isDescending ? -1 : 1) * compareCells(one[column], other[column]))
}

function sortOf(sorting: Sorting | undefined, name: string): 'ascending' | 'descending' | undefined {
  if (sorting?.column !== name) return undefined
  return sorting.isDescending ? 'descending' : 'ascending'
}

function arrowOf(sorting: Sorting | undefined, name: string): string {
  const order = sortOf(sorting, name)
  return order === undefined ? '' : order === 'ascending' ? ' ↑' : ' ↓'
}

function cellClass(value: unknown, isNumber: boolean, search: string): string {
  const isFound = search !== '' && cellText(value).toLowerCase().includes(search)
  return `${isNumber ? 'number' : ''}${isFound ? ' found' : ''}${typeof value === 'object' ? ' mono' : ''}`
}
