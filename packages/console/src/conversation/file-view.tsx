/** Files from agents: previewed if the browser can, downloaded on request, never opened otherwise. */
import type { RawPart } from '@parley/a2a'
import { useSignal } from '@preact/signals'
import { CodeBlock } from '../components/content/code-block.tsx'
import { Icon } from '../components/icon.tsx'
import { formatBytes } from '../components/format.ts'
import { downloadBytes, useBlobUrl } from './blob-url.ts'
import { decodeBase64, isCsv, isTextFile, base64ByteLength } from './part-kind.ts'
import { safeFileName } from './file-name.ts'
import { CsvView } from './table-view.tsx'
import './part-view.css'

export function ImageView({ part }: { readonly part: RawPart }) {
  const url = useBlobUrl(part.raw, part.mediaType ?? '')
  const name = safeFileName(part.filename, 'picture')
  return (
    <figure class="part-picture">
      {url === undefined ? <UnreadableFile /> : <img src={url} alt={name} />}
      <figcaption>
        <FileFacts part={part} name={name} />
      </figcaption>
    </figure>
  )
}

export function MediaView({ part, kind }: { readonly part: RawPart; readonly kind: 'audio' | 'video' }) {
  const url = useBlobUrl(part.raw, part.mediaType ?? '')
  const name = safeFileName(part.filename, kind)
  const Player = kind
  return (
    <figure class="part-picture">
      {url === undefined ? <UnreadableFile /> : <Player src={url} controls preload="metadata" aria-label={name} />}
      <figcaption>
        <FileFacts part={part} name={name} />
      </figcaption>
    </figure>
  )
}

const readableBytes = 200_000

export function FileView({ part }: { readonly part: RawPart }) {
  const isOpen = useSignal(false)
  const name = safeFileName(part.filename, 'file')
  const canRead = isTextFile(part.mediaType ?? '', name) && base64ByteLength(part.raw) <= readableBytes
  return (
    <div class="part-box part-file">
      <div class="part-file-head">
        <Icon name="file" />
        <FileFacts part={part} name={name} />
        {canRead && (
          <button
            type="button"
            class="small plain"
            aria-expanded={isOpen.value}
            onClick={() => (isOpen.value = !isOpen.value)}
          >
            {isOpen.value ? 'Hide' : 'Look'}
          </button>
        )}
      </div>
      {isOpen.value && <FileText part={part} name={name} />}
    </div>
  )
}

function FileText({ part, name }: { readonly part: RawPart; readonly name: string }) {
  const text = new TextDecoder().decode(decodeBase64(part.raw))
  return isCsv(part.mediaType ?? '', name) ? (
    <CsvView text={text} label={name} />
  ) : (
    <CodeBlock text={text} label={name} />
  )
}

function FileFacts({ part, name }: { readonly part: RawPart; readonly name: string }) {
  return (
    <span class="part-facts">
      <span class="part-name cut" title={name}>
        {name}
      </span>
      <span class="faint">
        {formatBytes(base64ByteLength(part.raw))}
        {part.mediaType === undefined ? '' : ` · ${part.mediaType}`}
      </span>
      <button
        type="button"
        class="small plain"
        aria-label={`Download ${name}`}
        onClick={() => downloadBytes(name, decodeBase64(part.raw) ?? part.raw)}
      >
        <Icon name="download" size={14} /> Download
      </button>
    </span>
  )
}

function UnreadableFile() {
  return <p class="part-secret">The bytes of this file cannot be read.</p>
}
