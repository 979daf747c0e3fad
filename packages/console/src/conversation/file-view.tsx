/**
 * Files from agents: shown if the browser can do so without running them, downloaded on request, never opened otherwise. Pictures,
 * also SVG, are only ever the source of an `img`, where scripts do not run.
 */
import type { RawPart } from '@parley/a2a/internal'
import { useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { CodeBlock } from '../components/content/code-block.tsx'
import { download } from '../components/content/download.ts'
import { languageOfFile } from '../components/content/language-names.ts'
import { Markdown } from '../components/content/markdown.tsx'
import { formatBytes } from '../components/format.ts'
import { Icon } from '../components/icon.tsx'
import {
  base64ByteLength,
  decodeBase64,
  isTextFile,
  mediaTypeOf,
  parseJsonText,
  safeFileName,
  textFileKind,
} from './part-kind.ts'
import { CsvView, DataView } from './table-view.tsx'
import './part-view.css'

export function MediaView({ part, kind }: { readonly part: RawPart; readonly kind: 'image' | 'audio' | 'video' }) {
  const url = useBlobUrl(part.raw, mediaTypeOf(part))
  const isBroken = useSignal(false)
  const name = safeFileName(part.filename, kind === 'image' ? 'picture' : kind)
  const media = { src: url, 'aria-label': name, onError: () => (isBroken.value = true) }
  return (
    <figure class="part-picture">
      {url === undefined ? (
        <p class="part-secret">This file is not valid base64 and cannot be shown.</p>
      ) : isBroken.value ? (
        <p class="part-secret">This browser cannot show the file. Download it to open it.</p>
      ) : kind === 'image' ? (
        <img src={url} alt={name} onError={media.onError} />
      ) : kind === 'audio' ? (
        <audio {...media} controls preload="metadata" />
      ) : (
        <video {...media} controls preload="metadata" />
      )}
      <figcaption class="row">
        <FileFacts part={part} name={name} />
        <DownloadButton name={name} bytes={() => bytesOf(part)} />
      </figcaption>
    </figure>
  )
}

/** A blob URL that lives as long as the component that shows it. `undefined` if `raw` is not base64. */
function useBlobUrl(raw: string, type: string): string | undefined {
  const url = useMemo(() => {
    const bytes = decodeBase64(raw)
    return bytes === undefined ? undefined : URL.createObjectURL(new Blob([bytes], { type }))
  }, [raw, type])
  useEffect(() => () => void (url !== undefined && URL.revokeObjectURL(url)), [url])
  return url
}

/**
 * In the browser's own PDF viewer, which is isolated from the page. The type of the blob is fixed, so that the frame cannot hold
 * anything that runs as a page. Chromium shows no PDF in a frame with a `sandbox` attribute.
 */
export function PdfView({ part }: { readonly part: RawPart }) {
  const name = safeFileName(part.filename, 'file')
  return (
    <div class="panel part-box part-file wide">
      <FileHead part={part} name={name} />
      {navigator.pdfViewerEnabled ? (
        <PdfFrame part={part} name={name} />
      ) : (
        <p class="hint">This browser cannot show the file. Download it to open it.</p>
      )}
    </div>
  )
}

function PdfFrame({ part, name }: { readonly part: RawPart; readonly name: string }) {
  const url = useBlobUrl(part.raw, 'application/pdf')
  if (url === undefined) return <p class="part-secret">This file is not valid base64 and cannot be shown.</p>
  return <iframe class="part-pdf" src={url} title={`Preview of ${name}`} loading="lazy" />
}

const readableBytes = 500_000
/** Short text is shown without being asked for. */
const openBytes = 4_000

export function FileView({ part }: { readonly part: RawPart }) {
  const name = safeFileName(part.filename, 'file')
  const type = mediaTypeOf(part)
  const size = base64ByteLength(part.raw)
  const isText = isTextFile(type, name)
  const canRead = isText && size <= readableBytes
  const isOpen = useSignal(canRead && (size <= openBytes || textFileKind(type, name) === 'csv'))
  return (
    <div class={isOpen.value ? 'panel part-box part-file wide' : 'panel part-box part-file'}>
      <FileHead part={part} name={name}>
        {canRead && (
          <button
            type="button"
            class="small"
            aria-expanded={isOpen.value}
            onClick={() => (isOpen.value = !isOpen.value)}
          >
            {isOpen.value ? 'Hide preview' : 'Preview'}
          </button>
        )}
      </FileHead>
      {isText && !canRead && <p class="hint">Too large to preview.</p>}
      {isOpen.value && <FileText part={part} name={name} />}
    </div>
  )
}

function FileText({ part, name }: { readonly part: RawPart; readonly name: string }) {
  const type = mediaTypeOf(part)
  const text = useMemo(() => new TextDecoder().decode(decodeBase64(part.raw)), [part.raw])
  const kind = textFileKind(type, name)
  if (kind === 'csv') return <CsvView text={text} label={name} />
  if (kind === 'markdown') return <Markdown text={text} />
  const json = kind === 'json' ? parseJsonText(text) : undefined
  return json === undefined ? (
    <CodeBlock text={text} label={name} language={languageOfFile(name, type)} />
  ) : (
    <DataView value={json.value} />
  )
}

interface FileHeadProps {
  readonly part: RawPart
  readonly name: string
  readonly children?: preact.ComponentChildren
}

function FileHead({ part, name, children }: FileHeadProps) {
  return (
    <div class="row part-file-head">
      <Icon name="file" />
      <FileFacts part={part} name={name} />
      {children}
      <DownloadButton name={name} bytes={() => bytesOf(part)} />
    </div>
  )
}

function FileFacts({ part, name }: { readonly part: RawPart; readonly name: string }) {
  return (
    <span class="bar grow">
      <span class="part-name">{name}</span>
      <span class="faint">
        {formatBytes(base64ByteLength(part.raw))}
        {part.mediaType === undefined ? '' : ` · ${part.mediaType}`}
      </span>
    </span>
  )
}

function bytesOf({ raw }: RawPart): BlobPart {
  return decodeBase64(raw) ?? raw
}

export function DownloadButton({ name, bytes }: { readonly name: string; readonly bytes: () => BlobPart }) {
  return (
    <button
      type="button"
      class="small"
      aria-label={`Download ${name}`}
      // With a type that no browser opens.
      onClick={() => download(new Blob([bytes()], { type: 'application/octet-stream' }), name)}
    >
      <Icon name="download" size={14} /> Download
    </button>
  )
}
