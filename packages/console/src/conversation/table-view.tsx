/** Rows of plain values as a table, or as the JSON that they are. */
import type { Json, Struct } from '@parley/a2a'
import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { Code } from '../parts/code.tsx'
import { Copy } from '../parts/copy.tsx'
import { Json as JsonTree } from '../parts/json.tsx'
import { count } from '../parts/words.ts'
import { rowsOfCsv } from './csv.ts'
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

/** Text that is no table is shown as it is. */
export function CsvView({ text, label }: { readonly text: string; readonly label: string }) {
  const rows = useMemo(() => rowsOfCsv(text), [text])
  return rows === undefined ? <Code text={text} label={label} /> : <TableView rows={rows} source={{ text, label }} />
}

interface TableProps {
  readonly rows: readonly Struct[]
  /** What it was read from, if that was no JSON. */
  readonly source?: { readonly text: string; readonly label: string }
}

export function TableView({ rows, source }: TableProps) {
  const shown = useSignal(rowsAtOnce)
  const asTree = useSignal(false)
  const columns = columnsOf(rows)
  const numeric = new Set(columns.filter((name) => isNumeric(rows, name, source !== undefined)))
  return (
    <div class="part-table">
      {asTree.value ? (
        source === undefined ? (
          <DataView value={rows} />
        ) : (
          <Code {...source} />
        )
      ) : (
        <div class="part-box part-scroll" tabIndex={0} role="group" aria-label="Table">
          <table class="data">
            <thead>
              <tr>
                {columns.map((name) => (
                  <th key={name} scope="col" dir="auto" class={numeric.has(name) ? 'number' : ''}>
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, shown.value).map((row, index) => (
                <tr key={index}>
                  {columns.map((name) => (
                    <td key={name} dir="auto" class={numeric.has(name) ? 'number' : ''}>
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
          {asTree.value ? 'As a table' : source === undefined ? 'As JSON' : 'As text'}
        </button>
        <Copy text={() => source?.text ?? JSON.stringify(rows, null, 2)} label="Copy the data" />
      </p>
    </div>
  )
}

const digits = /^(-?\d+([.,]\d+)*)?$/

/** `isText`: of a file in which a number is what looks like one. */
function isNumeric(rows: readonly Struct[], name: string, isText: boolean): boolean {
  return rows.slice(0, rowsAtOnce).every((row) => {
    const value = row[name]
    return (
      value === undefined || typeof value === 'number' || (isText && typeof value === 'string' && digits.test(value))
    )
  })
}

function cellOf(value: Json | undefined): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
