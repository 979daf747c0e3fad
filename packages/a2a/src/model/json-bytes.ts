/**
 * Estimates the size of a value as JSON without serializing it. It bounds reads, caches and responses. A character counts as one
 * byte, so Chinese text may take three times as much.
 */
import type { RecordBody } from './record.ts'
import type { Artifact, Message, Part, Task } from './task.ts'

/** Names, ids, times and punctuation of a record. */
const overhead = 200
/** Deeper values are not counted, to keep the recursion bounded. */
const maxDepth = 2_000

export function recordBytes(body: RecordBody): number {
  if (body.type === 'artifact') return overhead + artifactBytes(body.artifact) + valueBytes(body.metadata)
  if (body.type === 'message') return overhead + messageBytes(body.message) + valueBytes(body.options)
  if (body.type !== 'status') return overhead + valueBytes(body)
  return (
    overhead + valueBytes(body.metadata) + (body.status.message === undefined ? 0 : messageBytes(body.status.message))
  )
}

export function recordsBytes(records: readonly { readonly body: RecordBody }[]): number {
  let bytes = 0
  for (const { body } of records) bytes += recordBytes(body)
  return bytes
}

export function taskBytes({ status, artifacts, history, metadata }: Task): number {
  let bytes = overhead + valueBytes(metadata) + (status.message === undefined ? 0 : messageBytes(status.message))
  for (const artifact of artifacts ?? []) bytes += artifactBytes(artifact)
  for (const message of history ?? []) bytes += messageBytes(message)
  return bytes
}

function artifactBytes({ parts, metadata, description }: Artifact): number {
  return partsBytes(parts) + valueBytes(metadata) + (description?.length ?? 0)
}

function messageBytes({ parts, metadata }: Message): number {
  return partsBytes(parts) + valueBytes(metadata)
}

function partsBytes(parts: readonly Part[]): number {
  let bytes = 0
  for (const part of parts) {
    if ('text' in part) bytes += part.text.length
    else if ('raw' in part) bytes += part.raw.length
    else {
      bytes += valueBytes(part)
      continue
    }
    if (part.metadata !== undefined) bytes += valueBytes(part.metadata)
  }
  return bytes + parts.length * 20
}

function valueBytes(value: unknown, depth = 0): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null || depth > maxDepth) return value === undefined ? 0 : 8
  let bytes = 2
  if (Array.isArray(value)) for (const item of value) bytes += 1 + valueBytes(item, depth + 1)
  else for (const key in value) bytes += key.length + 4 + valueBytes((value as Record<string, unknown>)[key], depth + 1)
  return bytes
}
