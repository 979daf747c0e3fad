/** A blob URL that lives as long as the component that shows it. */
import { useEffect, useMemo } from 'preact/hooks'
import { decodeBase64 } from './part-kind.ts'

/** `undefined` if `raw` is not base64. */
export function useBlobUrl(raw: string, type: string): string | undefined {
  const url = useMemo(() => {
    const bytes = decodeBase64(raw)
    return bytes === undefined ? undefined : URL.createObjectURL(new Blob([bytes], { type }))
  }, [raw, type])
  useEffect(() => () => void (url !== undefined && URL.revokeObjectURL(url)), [url])
  return url
}

/** The URL is created on demand, with a type that no browser opens. */
export function downloadBytes(name: string, bytes: BlobPart): void {
  const url = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
