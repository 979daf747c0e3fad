/** The payloads of the golden files, with what each is: seeds that reach deep from the start. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface GoldenPayload {
  readonly version: string
  readonly dialect: 'json' | 'proto'
  readonly request?: string
  readonly result?: string
  readonly event?: true
  readonly card?: true
  readonly error?: number | true
  readonly payload: unknown
}

const folder = join(import.meta.dirname, '../../packages/a2a/src/versions')

export function goldenPayloads(): readonly GoldenPayload[] {
  return globSync('v*/golden/*.json', { cwd: folder })
    .sort()
    .flatMap((file) => {
      const { dialect, steps } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as {
        dialect: 'json' | 'proto'
        steps: readonly Omit<GoldenPayload, 'version' | 'dialect'>[]
      }
      const version = file.slice(1, 4).replace('_', '.')
      return steps.map(({ request, result, event, card, error, payload }) => ({
        version,
        dialect,
        payload,
        ...(request !== undefined ? { request } : {}),
        ...(result !== undefined ? { result } : {}),
        ...(event !== undefined ? { event } : {}),
        ...(card !== undefined ? { card } : {}),
        ...(error !== undefined ? { error } : {}),
      }))
    })
}
