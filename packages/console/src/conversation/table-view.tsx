/** Rows of plain values as a table, or as the JSON that they are. */
import type { Json, Struct } from '@parley/a2a'
import { useSignal } from '@preact/signals'
import { Copy } from '../parts/copy.tsx'
import { Json as JsonTree } from '../parts/json.tsx'
import { count } from '../parts/words.ts'
import { columnsOf } from './part-kind.ts'
import './part-view.css'

export function DataView({ value }: { readonly value: Json }) {
  return (
    <div class="part-box part-data">
      <JsonTree value={value} open={2} />
    </div>
  )
}

const rowsAtOnce = 100

export function TableView({ rows }: { readonly rows: readonly Struct[] }) {
  const shown = useSignal(rowsAtOnce)
  const asTree = useSignal(false)
  const columns = columnsOf(rows)
  return (
    <div class="part-table">
      {asTree.value ? (
        <DataView value={rows} />
      ) : (
        <div class="part-box part-scroll" tabIndex={0} role="group" aria-label="Table">
          <table class="data">
            <thead>
              <tr>
                {columns.map((name) => (
                  <th key={name} scope="col" class={isNumeric(rows, name) ? 'number' : ''}>
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, shown.value).map((row, index) => (
                <tr key={index}>
                  {columns.map((name) => (
                    <td key={name} class={isNumeric(rows, name) ? 'number' : ''}>
                      {cellOf(row[name])}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <p class="part-tools">
        <span class="faint">{count(rows.length)} rows</span>
        {rows.length > shown.value && !asTree.value && (
          <button type="button" class="small plain" onClick={() => (shown.value += rowsAtOnce * 10)}>
            Show more
          </button>
        )}
        <button type="button" class="small plain" onClick={() => (asTree.value = !asTree.value)}>
          {asTree.value ? 'As a table' : 'As JSON'}
        </button>
        <Copy text={() => JSON.stringify(rows, null, 2)} label="Copy the data" />
      </p>
    </div>
  )
}

function isNumeric(rows: readonly Struct[], name: string): boolean {
  return rows.slice(0, rowsAtOnce).every((row) => row[name] === undefined || typeof row[name] === 'number')
}

function cellOf(value: Json | undefined): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
