/** Rows of plain values as a table, or as JSON. */
import type { Json, Struct } from '@parley/a2a'
import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { CodeBlock } from '../components/content/code-block.tsx'
import { CopyButton } from '../components/content/copy-button.tsx'
import { JsonTreeView } from '../components/content/json-tree.tsx'
import { formatCount } from '../components/format.ts'
import { parseCsv } from './csv.ts'
import { tableColumns } from './part-kind.ts'
import './part-view.css'

export function DataView({ value }: { readonly value: Json }) {
  return (
    <div class="panel part-box part-data">
      <JsonTreeView value={value} open={2} />
    </div>
  )
}

const rowsPerPage = 100

/** Text that is not a table is shown as is. */
export function CsvView({ text, label }: { readonly text: string; readonly label: string }) {
  const rows = useMemo(() => parseCsv(text), [text])
  return rows === undefined ? (
    <CodeBlock text={text} label={label} />
  ) : (
    <TableView rows={rows} source={{ text, label }} />
  )
}

interface TableProps {
  readonly rows: readonly Struct[]
  /** The source text, if it was not JSON. */
  readonly source?: { readonly text: string; readonly label: string }
}

export function TableView({ rows, source }: TableProps) {
  const shown = useSignal(rowsPerPage)
  const asTree = useSignal(false)
  const columns = tableColumns(rows)
  const numeric = new Set(columns.filter((name) => isNumeric(rows, name, source !== undefined)))
  return (
    <div class="part-table">
      {asTree.value ? (
        source === undefined ? (
          <DataView value={rows} />
        ) : (
          <CodeBlock {...source} />
        )
      ) : (
        <div class="panel part-box part-scroll" tabIndex={0} role="group" aria-label="Table">
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
      <p class="row part-tools">
        <span class="faint">{formatCount(rows.length)} rows</span>
        {rows.length > shown.value && !asTree.value && (
          <button type="button" class="small plain" onClick={() => (shown.value += rowsPerPage * 10)}>
            Show more
          </button>
        )}
        <button type="button" class="small plain" onClick={() => (asTree.value = !asTree.value)}>
          {asTree.value ? 'As a table' : source === undefined ? 'As JSON' : 'As text'}
        </button>
        <CopyButton text={() => source?.text ?? JSON.stringify(rows, null, 2)} label="Copy the data" />
      </p>
    </div>
  )
}

const digits = /^(-?\d+([.,]\d+)*)?$/

/** `isText`: the cells come from a text file, in which anything that looks like a number is one. */
function isNumeric(rows: readonly Struct[], name: string, isText: boolean): boolean {
  return rows.slice(0, rowsPerPage).every((row) => {
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
