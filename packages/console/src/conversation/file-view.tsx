/** Files from agents: previewed if the browser can, downloaded on request, never opened otherwise. */
import type { RawPart } from '@parley/a2a'
import { useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { CodeBlock } from '../components/content/code-block.tsx'
import { Icon } from '../components/icon.tsx'
import { formatBytes } from '../components/format.ts'
import { download } from '../components/content/download.ts'
import { base64ByteLength, decodeBase64, isCsv, isTextFile, safeFileName } from './part-kind.ts'
import { CsvView } from './table-view.tsx'
import './part-view.css'

export function MediaView({ part, kind }: { readonly part: RawPart; readonly kind: 'image' | 'audio' | 'video' }) {
  const url = useBlobUrl(part.raw, part.mediaType ?? '')
  const name = safeFileName(part.filename, kind === 'image' ? 'picture' : kind)
  return (
    <figure class="part-picture">
      {url === undefined && <p class="part-secret">The bytes of this file cannot be read.</p>}
      {url !== undefined && kind === 'image' && <img src={url} alt={name} />}
      {url !== undefined && kind === 'audio' && <audio src={url} controls preload="metadata" aria-label={name} />}
      {url !== undefined && kind === 'video' && <video src={url} controls preload="metadata" aria-label={name} />}
      <figcaption>
        <FileFacts part={part} name={name} />
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

const readableBytes = 200_000

export function FileView({ part }: { readonly part: RawPart }) {
  const isOpen = useSignal(false)
  const name = safeFileName(part.filename, 'file')
  const canRead = isTextFile(part.mediaType ?? '', name) && base64ByteLength(part.raw) <= readableBytes
  return (
    <div class="panel part-box part-file">
      <div class="row part-file-head">
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
    <span class="bar part-facts">
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

/** With a type that no browser opens. */
export function downloadBytes(name: string, bytes: BlobPart): void {
  download(new Blob([bytes], { type: 'application/octet-stream' }), name)
}
