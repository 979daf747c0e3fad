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
  const taken = new Set<string>()
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

const reserved = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i

/** One name: the last segment, without what a shell, a terminal or a file system could misread. */
export function safeName(given: string): string {
  const last = given.split(/[/\\]/).at(-1) ?? ''
  const plain = last
    // oxlint-disable-next-line no-control-regex -- these are the characters to remove
    .replaceAll(/[\u0000-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069\uFEFF<>:"|?*]/g, '_')
    .replace(/^[.\s-]+/, '')
    .replace(/[.\s]+$/, '')
  const kept = plain.length > 200 ? plain.slice(0, 190) + extname(plain).slice(0, 10) : plain
  if (kept === '') return 'file'
  return reserved.test(kept) ? `_${kept}` : kept
}

/** `report.pdf`, then `report (2).pdf`. Systems differ in whether case distinguishes names. */
function unique(name: string, taken: Set<string>): string {
  const extension = extname(name)
  const stem = name.slice(0, name.length - extension.length)
  for (let number = 1; ; number += 1) {
    const candidate = number === 1 ? name : `${stem} (${number})${extension}`
    const key = candidate.toLowerCase()
    if (taken.has(key)) continue
    taken.add(key)
    return candidate
  }
}
