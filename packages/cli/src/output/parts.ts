/** Parts, messages and artifacts as text. Nothing is dropped: an empty text, unknown content and metadata are shown too. */
import type { Artifact, Message, Part } from '@parley/a2a'
import { formatSize } from './printer.ts'
import { block, field } from './text.ts'

export interface PartOptions {
  /** Also shows ids, media types of text, and metadata. */
  readonly isVerbose: boolean
}

export function partsText(parts: readonly Part[], options: PartOptions): string {
  return parts.map((part) => partText(part, options)).join('')
}

function partText(part: Part, { isVerbose }: PartOptions): string {
  const { metadata, mediaType } = part
  const details = !isVerbose
    ? ''
    : [
        mediaType !== undefined && !isFile(part) ? field('Media Type', mediaType) : '',
        metadata !== undefined ? block('Metadata', JSON.stringify(metadata, null, 2)) : '',
      ].join('')
  return contentText(part) + details
}

function contentText(part: Part): string {
  if ('text' in part)
    return part.filename === undefined ? field('Text', part.text) : fileText(part) + field('Text', part.text)
  if ('data' in part) {
    const json = JSON.stringify(part.data, null, 2)
    return (part.filename === undefined ? '' : fileText(part)) + field('Data', json)
  }
  return fileText(part)
}

export function isFile(part: Part): boolean {
  return 'raw' in part || 'url' in part || part.filename !== undefined
}

/** `File: chart.png (image/png, 10 B)`; a URL instead of the size if the agent keeps the file. */
export function fileText(part: Part): string {
  const { filename = 'unnamed', mediaType = 'unknown type' } = part
  const where = 'url' in part ? part.url : 'raw' in part ? formatSize(sizeOfBase64(part.raw)) : undefined
  return field('File', `${filename} (${[mediaType, ...(where === undefined ? [] : [where])].join(', ')})`)
}

/** The number of bytes, without decoding them. The padding may be missing. */
export function sizeOfBase64(raw: string): number {
  const padding = raw.endsWith('==') ? 2 : raw.endsWith('=') ? 1 : 0
  return Math.max(0, Math.floor((raw.length * 3) / 4) - padding)
}

/** `label` says where it stands: `Message`, `History`. */
export function messageText(label: string, message: Message, options: PartOptions): string {
  const { messageId, role, parts, metadata, referenceTaskIds, extensions } = message
  const details = !options.isVerbose
    ? ''
    : [
        field('Message ID', messageId),
        referenceTaskIds?.length ? field('Reference Tasks', referenceTaskIds.join(', ')) : '',
        extensions?.length ? field('Extensions', extensions.join(', ')) : '',
        metadata !== undefined ? block('Metadata', JSON.stringify(metadata, null, 2)) : '',
      ].join('')
  return field(label, role) + details + partsText(parts, options)
}

/** `Artifact: report (a-1)`, or its id alone, and what it consists of. */
export function artifactText(artifact: Artifact, options: PartOptions, note = ''): string {
  const { artifactId, name, description, parts, metadata } = artifact
  const title = name === undefined ? artifactId : `${name} (${artifactId})`
  return [
    field('Artifact', note === '' ? title : `${title} ${note}`),
    description !== undefined ? field('Description', description) : '',
    options.isVerbose && metadata !== undefined ? block('Metadata', JSON.stringify(metadata, null, 2)) : '',
    partsText(parts, options),
  ].join('')
}

/** Whether a part is a file that `task download` saves. */
export function hasFiles(artifacts: readonly Artifact[] = []): boolean {
  return artifacts.some(({ parts }) => parts.some(isFile))
}
