/** An address for bytes, for as long as they are shown. */
import { useEffect, useMemo } from 'preact/hooks'
import { bytesOf } from './part-kind.ts'

/** Nothing, if it is no base64. */
export function useBlobUrl(raw: string, type: string): string | undefined {
  const url = useMemo(() => {
    const bytes = bytesOf(raw)
    return bytes === undefined ? undefined : URL.createObjectURL(new Blob([bytes], { type }))
  }, [raw, type])
  useEffect(() => () => void (url !== undefined && URL.revokeObjectURL(url)), [url])
  return url
}

/** Made when it is wanted, and as a type that no browser opens. */
export function download(name: string, bytes: BlobPart): void {
  const url = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
