/** Attached files, with previews of images. */
import { useEffect, useMemo } from 'preact/hooks'
import { Icon } from '../../../components/icon.tsx'
import { formatBytes } from '../../../components/format.ts'

interface ChipsProps {
  readonly files: readonly File[]
  readonly onRemove: (file: File) => void
}

export function FileChips({ files, onRemove }: ChipsProps) {
  if (files.length === 0) return null
  return (
    <ul class="chips" aria-label="Files to send">
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
