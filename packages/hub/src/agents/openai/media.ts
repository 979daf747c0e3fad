/** Detects the media kind of bytes: by their media type, or by their first bytes if no type is given. */

export type MediaKind =
  | { readonly kind: 'text' }
  | { readonly kind: 'image'; readonly mediaType: string }
  | { readonly kind: 'audio'; readonly format: string }
  | { readonly kind: 'file'; readonly mediaType: string }

const audioFormats: Readonly<Record<string, string>> = {
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/wave': 'wav',
  'audio/vnd.wave': 'wav',
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
}

const textTypes =
  /^(text\/.*|application\/(json|xml|yaml|x-yaml|toml|javascript|typescript|sql|x-sh|x-ndjson|jsonl|graphql|csv)|.*\+(json|xml|yaml))$/

/** Undefined for types that no model accepts. */
export function detectMediaKind(mediaType: string | undefined, bytes: Uint8Array): MediaKind | undefined {
  const type = mediaType?.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  if (type === '' || type === 'application/octet-stream') return mediaKindOfBytes(bytes)
  // Images in a text format are read as text: no endpoint accepts them as images.
  if (textTypes.test(type)) return { kind: 'text' }
  if (type.startsWith('image/')) return { kind: 'image', mediaType: type }
  const format = audioFormats[type]
  if (format !== undefined) return { kind: 'audio', format }
  return type === 'application/pdf' ? { kind: 'file', mediaType: type } : undefined
}

function mediaKindOfBytes(bytes: Uint8Array): MediaKind | undefined {
  const beginning = Buffer.from(bytes.subarray(0, 12)).toString('latin1')
  if (beginning.startsWith('\x89PNG')) return { kind: 'image', mediaType: 'image/png' }
  if (beginning.startsWith('\xff\xd8\xff')) return { kind: 'image', mediaType: 'image/jpeg' }
  if (beginning.startsWith('GIF8')) return { kind: 'image', mediaType: 'image/gif' }
  if (/^RIFF.{4}WEBP/s.test(beginning)) return { kind: 'image', mediaType: 'image/webp' }
  if (/^RIFF.{4}WAVE/s.test(beginning)) return { kind: 'audio', format: 'wav' }
  if (/^(ID3|\xff[\xfb\xf3\xf2])/.test(beginning)) return { kind: 'audio', format: 'mp3' }
  if (beginning.startsWith('%PDF-')) return { kind: 'file', mediaType: 'application/pdf' }
  return isText(bytes) ? { kind: 'text' } : undefined
}

function isText(bytes: Uint8Array): boolean {
  try {
    return !new TextDecoder('utf-8', { fatal: true }).decode(bytes).includes('\0')
  } catch {
    return false
  }
}
