/** The protocol log, one line per frame; each line can be opened and copied. */
import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { setQuery } from '../../../app/router.ts'
import { CodeBlock } from '../../../components/content/code-block.tsx'
import { CopyButton } from '../../../components/content/copy-button.tsx'
import { Icon } from '../../../components/icon.tsx'
import { PayloadView } from '../../../components/protocol/payload-view.tsx'
import { VirtualList } from '../../../components/list/virtual-list.tsx'
import { formatCount, formatDuration } from '../../../components/format.ts'
import { toggleProtocol, playgroundParams } from '../playground-params.ts'
import {
  frameData,
  frameSummary,
  frameId,
  protocolRowKey,
  requestOperation,
  protocolRows,
  protocolRowText,
  endText,
} from './exchange.ts'
import type { Exchange, ProtocolRow } from './exchange.ts'
import type { ProtocolLog } from './protocol-log.ts'
import './protocol-panel.css'

export function ProtocolPanel({ log }: { readonly log: ProtocolLog }) {
  const { protocolFilter } = playgroundParams()
  const exchanges = log.exchanges.value
  const rows = useMemo(() => protocolRows(exchanges, protocolFilter), [exchanges, protocolFilter])
  const opened = useSignal<ReadonlySet<string>>(new Set())

  function toggle(key: string): void {
    const next = new Set(opened.peek())
    if (!next.delete(key)) next.add(key)
    opened.value = next
  }

  return (
    <div class="fill protocol">
      <header class="row protocol-head">
        <h2>Protocol</h2>
        <input
          type="search"
          aria-label="Filter frames"
          placeholder="Filter"
          value={protocolFilter}
          onInput={(event) => setQuery({ frames: event.currentTarget.value })}
        />
        <span class="faint" role="status">
          {formatCount(rows.length)}
        </span>
        <CopyButton text={() => rows.map(protocolRowText).join('\n\n')} label="Copy all frames" />
        <button type="button" class="small plain" onClick={() => log.clear()}>
          Clear
        </button>
        <button type="button" class="icon small plain" aria-label="Close protocol" onClick={toggleProtocol}>
          <Icon name="close" size={14} />
        </button>
      </header>
      {rows.length === 0 ? (
        <p class="protocol-none">
          {exchanges.length === 0
            ? 'Send a message to see each request and each frame of its response.'
            : 'No matching frames'}
        </p>
      ) : (
        <VirtualList
          items={rows}
          rowHeight={30}
          label="Frames"
          follow={protocolFilter === ''}
          keyOf={protocolRowKey}
          row={(row) => {
            const key = protocolRowKey(row)
            return <Row row={row} isOpen={opened.value.has(key)} onToggle={() => toggle(key)} />
          }}
        />
      )}
    </div>
  )
}

interface RowProps {
  readonly row: ProtocolRow
  readonly isOpen: boolean
  readonly onToggle: () => void
}

function Row({ row, isOpen, onToggle }: RowProps) {
  const { title, after, look } = rowSummary(row)
  return (
    <div class={`protocol-row ${look}`}>
      <div class="protocol-line">
        <button type="button" class="protocol-open" aria-expanded={isOpen} onClick={onToggle}>
          <span class="protocol-way" aria-hidden="true">
            {row.kind === 'request' ? '→' : row.kind === 'end' ? '×' : '←'}
          </span>
          <span class="cut">{title}</span>
        </button>
        <span class="faint protocol-after">{after === undefined ? '' : formatDuration(after)}</span>
        <CopyButton text={() => protocolRowText(row)} label="Copy this frame" />
      </div>
      {isOpen && <RowDetails row={row} />}
    </div>
  )
}

function rowSummary(row: ProtocolRow): {
  readonly title: string
  readonly after: number | undefined
  readonly look: string
} {
  const { exchange } = row
  switch (row.kind) {
    case 'request':
      return {
        title: `${exchange.method} ${new URL(exchange.url).pathname} · ${requestOperation(exchange)}`,
        after: undefined,
        look: 'request',
      }
    case 'answer':
      return { title: responseHead(exchange), after: exchange.response?.afterMs, look: isBad(exchange) ? 'bad' : '' }
    case 'frame': {
      const frame = exchange.frames[row.index]
      const id = frameId(frame?.text ?? '')
      const gist = frameSummary(frame?.text ?? '')
      return { title: id === undefined ? gist : `#${id} ${gist}`, after: frame?.afterMs, look: 'frame' }
    }
    case 'end':
      return {
        title: endText(exchange),
        after: exchange.ended?.afterMs,
        look: exchange.ended?.why === 'broken' ? 'bad' : '',
      }
  }
}

function responseHead({ response }: Exchange): string {
  const type = response?.headers.find(([name]) => name === 'content-type')?.[1] ?? ''
  return `${response?.status} ${type.split(';', 1)[0]}`
}

function isBad({ response }: Exchange): boolean {
  return (response?.status ?? 200) >= 400
}

function RowDetails({ row }: { readonly row: ProtocolRow }) {
  const { exchange, kind } = row
  return (
    <div class="protocol-body">
      {kind === 'request' && <Headers of={[['url', exchange.url], ...exchange.headers]} />}
      {kind === 'request' && exchange.body !== undefined && <Body text={exchange.body} />}
      {kind === 'answer' && <Headers of={exchange.response?.headers ?? []} />}
      {(kind === 'frame' || kind === 'end') && <Body text={protocolRowText(row)} />}
    </div>
  )
}

function Body({ text }: { readonly text: string }) {
  const data = frameData(text)
  if (data === undefined) return <CodeBlock text={text} label="the frame" wrap />
  return <PayloadView value={data} text={text} about="the frame" />
}

function Headers({ of }: { readonly of: Exchange['headers'] }) {
  return (
    <dl class="protocol-headers mono">
      {of.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
