/** The files of a message: a button that adds them, and the list of those attached. */
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { Icon } from '../../../components/icon.tsx'
import { formatBytes } from '../../../components/format.ts'

export function FilePick({ onFiles }: { readonly onFiles: (files: readonly File[]) => void }) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files"
        onChange={(event) => {
          onFiles([...(event.currentTarget.files ?? [])])
          event.currentTarget.value = ''
        }}
      />
      <button type="button" class="plain small" onClick={() => input.current?.click()}>
        <Icon name="clip" size={14} /> Files
      </button>
    </>
  )
}

interface ChipsProps {
  readonly files: readonly File[]
  readonly onRemove: (file: File) => void
}

/** Attached files, with previews of images. */
export function FileChips({ files, onRemove }: ChipsProps) {
  if (files.length === 0) return null
  return (
    <ul class="bar chips" aria-label="Attached files">
      {files.map((file) => (
        <Chip key={`${file.name} ${file.size} ${file.lastModified}`} file={file} onRemove={() => onRemove(file)} />
      ))}
    </ul>
  )
}

const previewTypes = /^image\/(png|jpeg|gif|webp|avif)$/

function Chip({ file, onRemove }: { readonly file: File; readonly onRemove: () => void }) {
  const url = useMemo(() => (previewTypes.test(file.type) ? URL.createObjectURL(file) : undefined), [file])
  useEffect(() => () => void (url !== undefined && URL.revokeObjectURL(url)), [url])
  const name = file.name === '' ? 'file' : file.name
  return (
    <li class="chip">
      {url === undefined ? <Icon name="file" /> : <img src={url} alt="" width="28" height="28" />}
      <span class="chip-name cut" title={name}>
        {name}
      </span>
      <span class="faint">{formatBytes(file.size)}</span>
      <button type="button" class="icon small plain" aria-label={`Remove ${name}`} onClick={onRemove}>
        <Icon name="close" size={14} />
      </button>
    </li>
  )
}
