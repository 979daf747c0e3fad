/** Files that an agent made: shown where a browser can, kept where somebody wants to, and opened by nobody else. */
import type { RawPart } from '@parley/a2a'
import { useSignal } from '@preact/signals'
import { Code } from '../parts/code.tsx'
import { Icon } from '../parts/icon.tsx'
import { bytes } from '../parts/words.ts'
import { download, useBlobUrl } from './blob-url.ts'
import { bytesOf, isCsv, isReadable, sizeOf } from './part-kind.ts'
import { fileName } from './file-name.ts'
import { CsvView } from './table-view.tsx'
import './part-view.css'

export function ImageView({ part }: { readonly part: RawPart }) {
  const url = useBlobUrl(part.raw, part.mediaType ?? '')
  const name = fileName(part.filename, 'picture')
  return (
    <figure class="part-picture">
      {url === undefined ? <NotReadable /> : <img src={url} alt={name} />}
      <figcaption>
        <FileFacts part={part} name={name} />
      </figcaption>
    </figure>
  )
}

export function MediaView({ part, kind }: { readonly part: RawPart; readonly kind: 'audio' | 'video' }) {
  const url = useBlobUrl(part.raw, part.mediaType ?? '')
  const name = fileName(part.filename, kind)
  const Player = kind
  return (
    <figure class="part-picture">
      {url === undefined ? <NotReadable /> : <Player src={url} controls preload="metadata" aria-label={name} />}
      <figcaption>
        <FileFacts part={part} name={name} />
      </figcaption>
    </figure>
  )
}

const readableBytes = 200_000

export function FileView({ part }: { readonly part: RawPart }) {
  const isOpen = useSignal(false)
  const name = fileName(part.filename, 'file')
  const canRead = isReadable(part.mediaType ?? '', name) && sizeOf(part.raw) <= readableBytes
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
  const text = new TextDecoder().decode(bytesOf(part.raw))
  return isCsv(part.mediaType ?? '', name) ? <CsvView text={text} label={name} /> : <Code text={text} label={name} />
}

function FileFacts({ part, name }: { readonly part: RawPart; readonly name: string }) {
  return (
    <span class="part-facts">
      <span class="part-name cut" title={name}>
        {name}
      </span>
      <span class="faint">
        {bytes(sizeOf(part.raw))}
        {part.mediaType === undefined ? '' : ` · ${part.mediaType}`}
      </span>
      <button
        type="button"
        class="small plain"
        aria-label={`Download ${name}`}
        onClick={() => download(name, bytesOf(part.raw) ?? part.raw)}
      >
        <Icon name="download" size={14} /> Download
      </button>
    </span>
  )
}

function NotReadable() {
  return <p class="part-secret">The bytes of this file cannot be read.</p>
}
