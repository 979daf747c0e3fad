/** Reads an OCI archive: its configuration, and its files as a container sees them. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface OciImage {
  /** The root of the files. */
  readonly rootfs: string
  readonly config: OciImageConfig
  readonly created: string
}

export interface OciImageConfig {
  readonly User: string
  readonly Env: readonly string[]
  readonly Entrypoint: readonly string[]
  readonly Cmd: readonly string[]
  readonly WorkingDir: string
  readonly StopSignal: string
  readonly ExposedPorts: Readonly<Record<string, unknown>>
  readonly Volumes: Readonly<Record<string, unknown>>
  readonly Labels: Readonly<Record<string, string>>
}

interface Descriptor {
  readonly digest: string
}

/** Unpacks into `folder`, with the owners of the image: needs root. */
export function unpackImage(archive: string, folder: string): OciImage {
  const [layout, rootfs] = [join(folder, 'layout'), join(folder, 'rootfs')]
  mkdirSync(layout, { recursive: true })
  mkdirSync(rootfs)
  execFileSync('tar', ['-xf', archive, '-C', layout])
  const blob = ({ digest }: Descriptor): string => join(layout, 'blobs', digest.replace(':', '/'))
  const read = <T>(file: string): T => JSON.parse(readFileSync(file, 'utf8')) as T
  const { manifests } = read<{ manifests: readonly [Descriptor] }>(join(layout, 'index.json'))
  const { config, layers } = read<{ config: Descriptor; layers: readonly Descriptor[] }>(blob(manifests[0]))
  for (const layer of layers) execFileSync('tar', ['-xzpf', blob(layer), '--same-owner', '-C', rootfs])
  const { config: settings, created } = read<{ config: OciImageConfig; created: string }>(blob(config))
  return { rootfs, config: settings, created }
}
