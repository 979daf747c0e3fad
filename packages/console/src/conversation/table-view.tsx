/** Data as JSON or as a table, with what can be done with it: search, switch, copy. */
import type { Json } from '@parley/a2a'
import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { CodeBlock } from '../components/content/code-block.tsx'
import { CopyButton } from '../components/content/copy-button.tsx'
import { DataTable } from '../components/content/data-table.tsx'
import { JsonTreeView } from '../components/content/json-tree.tsx'
import type { TableRow } from '../components/content/json-table.ts'
import { parseCsv } from './csv.ts'
import './part-view.css'
import { pluralize } from '../components/format.ts'

/** Values that are longer as text can be searched. */
const searchableLength = 1_000

export function DataView({ value }: { readonly value: Json }) {
  const search = useSignal('')
  const isLong = useMemo(() => JSON.stringify(value).length > searchableLength, [value])
  return (
    <div class="panel part-box part-data">
      {isLong && (
        <input
          type="search"
          class="part-search"
          placeholder="Search this JSON"
          aria-label="Search this JSON"
          value={search.value}
          onInput={(event) => (search.value = event.currentTarget.value)}
        />
      )}
      <div class="part-data-scroll">
        <JsonTreeView value={value} open={2} search={search.value} />
      </div>
    </div>
  )
}

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
  readonly rows: readonly TableRow[]
  /** The source text, if it was not JSON. */
  readonly source?: { readonly text: string; readonly label: string }
}

export function TableView({ rows, source }: TableProps) {
  const asSource = useSignal(false)
  const sourceName = source === undefined ? 'JSON' : 'Text'
  return (
    <div class="stack-small part-table">
      <div class="row part-tools">
        <span class="faint">{pluralize(rows.length, 'row')}</span>
        <button type="button" class="small" onClick={() => (asSource.value = !asSource.value)}>
          {asSource.value ? 'Table' : sourceName}
        </button>
        <CopyButton text={() => source?.text ?? JSON.stringify(rows, null, 2)} label="Copy data" class="plain small" />
      </div>
      {!asSource.value ? (
        <DataTable rows={rows} isText={source !== undefined} />
      ) : source === undefined ? (
        <DataView value={rows as Json} />
      ) : (
        <CodeBlock {...source} />
      )}
    </div>
  )
}
