/**
 * The files that the artifacts of a task are saved as. The agent chooses names, so each becomes one plain name inside the folder: no
 * path, no control character, no name that a system reserves. Two files of the same name get numbers.
 */
import type { Artifact, Part } from '@parley/a2a'
import { extname } from 'node:path'
import { extensionOf } from '../message-parts.ts'

export interface ArtifactFile {
  readonly artifactId: string
  readonly name: string
  readonly mediaType: string | undefined
  /** Set if the agent keeps the content. */
  readonly url: string | undefined
  bytes(): Uint8Array
}

export function artifactFiles(artifacts: readonly Artifact[]): readonly ArtifactFile[] {
  const taken = new Map<string, number>()
  return artifacts.flatMap(({ artifactId, name, parts }) =>
    joinTexts(parts).map((part, index, all): ArtifactFile => {
      const base = all.length === 1 ? (name ?? artifactId) : `${name ?? artifactId}-${index + 1}`
      const { mediaType } = part
      return {
        artifactId,
        name: unique(safeName(part.filename ?? withExtension(base, part)), taken),
        mediaType: mediaType ?? ('data' in part ? 'application/json' : 'text' in part ? 'text/plain' : undefined),
        url: 'url' in part ? part.url : undefined,
        bytes: () => contentOf(part),
      }
    }),
  )
}

/** Text that came in chunks is one file. */
function joinTexts(parts: readonly Part[]): readonly Part[] {
  const joined: Part[] = []
  for (const part of parts) {
    const last = joined.at(-1)
    const isSame =
      last !== undefined &&
      'text' in last &&
      'text' in part &&
      last.filename === part.filename &&
      last.mediaType === part.mediaType
    if (isSame) joined[joined.length - 1] = { ...last, text: last.text + part.text }
    else joined.push(part)
  }
  return joined
}

function contentOf(part: Part): Uint8Array {
  if ('raw' in part) return Buffer.from(part.raw, 'base64')
  if ('text' in part) return Buffer.from(part.text, 'utf8')
  return Buffer.from('data' in part ? `${JSON.stringify(part.data, null, 2)}\n` : '', 'utf8')
}

function withExtension(name: string, part: Part): string {
  if (extname(name) !== '') return name
  const known = extensionOf(part.mediaType)
  return name + (known !== '' ? known : 'data' in part ? '.json' : 'text' in part ? '.txt' : '')
}

/** File systems allow 255 bytes, and a number may follow. */
const maxNameBytes = 200

/** The first bytes of the text, without a part of a character. */
function cutBytes(text: string, max: number): string {
  if (Buffer.byteLength(text) <= max) return text
  return new TextDecoder().decode(Buffer.from(text, 'utf8').subarray(0, max), { stream: true })
}

const reserved = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i

/** One name: the last segment, without what a shell, a terminal or a file system could misread. */
export function safeName(given: string): string {
  const last = given.split(/[/\\]/).at(-1) ?? ''
  const plain = last
    // oxlint-disable-next-line no-control-regex -- these are the characters to remove
    .replaceAll(/[\u0000-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069\uFEFF<>:"|?*]/g, '_')
    .replace(/^[.\s-]+/, '')
    .replace(/[.\s]+$/, '')
  const extension = cutBytes(extname(plain), 20)
  const kept = Buffer.byteLength(plain) > maxNameBytes ? cutBytes(plain, maxNameBytes - 20) + extension : plain
  if (kept === '') return 'file'
  return reserved.test(kept) ? `_${kept}` : kept
}

/** `report.pdf`, then `report (2).pdf`. Systems differ in whether case and the composition of letters distinguish names. */
function unique(name: string, taken: Map<string, number>): string {
  const extension = extname(name)
  const stem = name.slice(0, name.length - extension.length)
  const keyOf = (one: string): string => one.normalize('NFC').toLowerCase()
  // Goes on after the last number of the name: an agent may send thousands of files of one name.
  for (let number = (taken.get(keyOf(name)) ?? 0) + 1; ; number += 1) {
    const candidate = number === 1 ? name : `${stem} (${number})${extension}`
    if (number > 1 && taken.has(keyOf(candidate))) continue
    taken.set(keyOf(name), number)
    if (number > 1) taken.set(keyOf(candidate), 1)
    return candidate
  }
}
