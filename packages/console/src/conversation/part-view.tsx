/** One part of a message or an artifact. No content is executed, and nothing is loaded from other hosts. */
import { type Part, type Struct, isRedacted } from '@parley/a2a'
import type { DataPart, RawPart, TextPart, UrlPart } from '@parley/a2a/internal'
import { useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { CodeBlock } from '../components/content/code-block.tsx'
import { CopyButton } from '../components/content/copy-button.tsx'
import { languageOfFile } from '../components/content/language-names.ts'
import { Icon } from '../components/icon.tsx'
import { Markdown } from '../components/content/markdown.tsx'
import { DownloadButton, FileView, MediaView, PdfView } from './file-view.tsx'
import { splitMarkdown, emptyMarkdownPieces } from './markdown-pieces.ts'
import { mediaTypeOf, parseJsonText, partKindOf } from './part-kind.ts'
import { safeHref } from '../components/content/safe-href.ts'
import { CsvView, DataView, TableView } from './table-view.tsx'
import './part-view.css'

export interface PartProps {
  readonly part: Part
  readonly byAgent: boolean
  /** The part is complete. */
  readonly isWhole?: boolean
}

export function PartView({ part, byAgent, isWhole = true }: PartProps) {
  if (isRedacted(part)) return <p class="part-secret">A secret, which is not stored.</p>
  const kind = partKindOf(part, byAgent)
  switch (kind) {
    case 'markdown':
      return <GrowingMarkdown text={(part as TextPart).text} isWhole={isWhole} />
    case 'text':
      return <PlainText text={(part as TextPart).text} />
    case 'code':
      return (
        <CodeBlock
          text={(part as TextPart).text}
          label={part.filename ?? 'code'}
          language={languageOfFile(part.filename ?? '', mediaTypeOf(part))}
        />
      )
    case 'json':
      return <DataView value={'data' in part ? part.data : (parseJsonText((part as TextPart).text)?.value ?? null)} />
    case 'table':
      return <TableView rows={(part as DataPart).data as readonly Struct[]} />
    case 'csv':
      return <CsvView text={(part as TextPart).text} label={part.filename ?? 'table'} />
    case 'image':
    case 'audio':
    case 'video':
      return <MediaView part={part as RawPart} kind={kind} />
    case 'pdf':
      return <PdfView part={part as RawPart} />
    case 'link':
      return <LinkView part={part as UrlPart} />
    case 'file':
      return <FileView part={part as RawPart} />
    case 'unknown':
      return <UnknownView part={part} />
  }
}

function PlainText({ text }: { readonly text: string }) {
  return (
    <pre class="part-text" dir="auto">
      {text}
    </pre>
  )
}

/** Up to this length the text is rendered as one, with all its references; longer text in pieces; far longer text as plain text. */
const maxWholeLength = 60_000
const maxMarkdownLength = 400_000

/** Markdown that may still be streaming: only its last piece is rendered again. */
function GrowingMarkdown({ text, isWhole }: { readonly text: string; readonly isWhole: boolean }) {
  if (text.length > maxMarkdownLength) return <PlainText text={text} />
  if (isWhole && text.length <= maxWholeLength) return <Piece text={text} />
  return <MarkdownPiecesView text={text} />
}

function MarkdownPiecesView({ text }: { readonly text: string }) {
  const pieces = useRef(emptyMarkdownPieces)
  pieces.current = splitMarkdown(text, pieces.current)
  const { whole, rest } = pieces.current
  const shownRest = useSlowed(rest, rest.length > maxEagerLength ? slowedMs : 0)
  return (
    <div class="part-pieces">
      {whole.map((piece, index) => (
        <Piece key={index} text={piece} />
      ))}
      {rest !== '' && <Piece key="rest" text={shownRest} />}
    </div>
  )
}

/** A longer piece that grows, such as a block of code, is rendered a few times a second instead of with every frame. */
const maxEagerLength = 10_000
const slowedMs = 250

/** A text that changes at most once in this time. */
function useSlowed(text: string, delayMs: number): string {
  const latest = useRef(text)
  const shown = useRef(text)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const drawn = useSignal(0)
  void drawn.value
  latest.current = text
  if (delayMs === 0) shown.current = text
  else if (shown.current !== text) {
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      shown.current = latest.current
      drawn.value += 1
    }, delayMs)
  }
  useEffect(() => () => clearTimeout(timer.current), [])
  return shown.current
}

function Piece({ text }: { readonly text: string }) {
  return useMemo(() => <Markdown text={text} />, [text])
}

function LinkView({ part }: { readonly part: UrlPart }) {
  const href = safeHref(part.url)
  const name = part.filename ?? part.url
  return (
    <div class="panel part-box part-file">
      <div class="row part-file-head">
        <Icon name="file" />
        <span class="bar grow">
          {href === undefined ? (
            <code class="part-name">{part.url}</code>
          ) : (
            <a class="part-name" href={href} target="_blank" rel="noopener noreferrer" title={part.url}>
              {name}
            </a>
          )}
          <span class="faint">
            {href === undefined ? 'Blocked: not a web address' : new URL(href).host}
            {part.mediaType === undefined ? '' : ` · ${part.mediaType}`}
          </span>
          <CopyButton text={part.url} label="Copy address" />
        </span>
      </div>
    </div>
  )
}

function UnknownView({ part }: { readonly part: Part }) {
  return (
    <div class="panel part-box part-file">
      <div class="row part-file-head">
        <Icon name="file" />
        <span class="bar grow">
          <span class="part-name">Unknown part type</span>
          <DownloadButton name="part.json" bytes={() => JSON.stringify(part, null, 2)} />
        </span>
      </div>
    </div>
  )
}
