/**
 * A registry for npm on loopback: our packed packages, and every third-party package of the repository's node_modules, packed when
 * npm asks for it. An installation from it needs no network and has the versions that the lockfile has.
 */
import { spawn } from 'node:child_process'
import { createReadStream, existsSync, readdirSync, type Dirent } from 'node:fs'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { readManifest, type PackageManifest } from '../../scripts/build-packages.ts'

export interface NpmRegistry {
  readonly url: string
  close(): Promise<void>
}

interface RegistryEntry {
  readonly manifest: PackageManifest
  readonly integrity?: string
  send(response: ServerResponse): Promise<void>
}

/** By name, then by version. */
type RegistryEntries = Map<string, Map<string, RegistryEntry>>

/** One of our packages. */
export interface PublishedPackage {
  readonly archive: string
  readonly integrity: string
  /** Where it is extracted. */
  readonly folder: string
}

const root = join(import.meta.dirname, '../..')

export async function startNpmRegistry(published: readonly PublishedPackage[]): Promise<NpmRegistry> {
  const scratch = await mkdtemp(join(tmpdir(), 'parley-registry-'))
  const entries = readEntries(published, scratch)
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '').slice(1)
    const [name = '', version] = path.split('/-/')
    const versions = entries.get(name)
    const entry = version === undefined ? undefined : versions?.get(version.replace(/\.tgz$/, ''))
    if (entry !== undefined) return void entry.send(response).catch(() => response.destroy())
    if (version === undefined && versions !== undefined) {
      response.setHeader('content-type', 'application/json')
      return void response.end(JSON.stringify(describePackage(name, versions, url)))
    }
    response.writeHead(404, { 'content-type': 'application/json' }).end('{ "error": "not found" }')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // The runner of the suites ends with it.
  server.unref()
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return {
    url,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await rm(scratch, { recursive: true })
    },
  }
}

function readEntries(published: readonly PublishedPackage[], scratch: string): RegistryEntries {
  const entries: RegistryEntries = new Map()
  const add = (entry: RegistryEntry): void => {
    const { name, version } = entry.manifest
    if (!entries.has(name)) entries.set(name, new Map())
    entries.get(name)?.set(version, entry)
  }
  const places = [
    'node_modules',
    'packages/hub/node_modules',
    'packages/cli/node_modules',
    'test/frameworks/node_modules',
  ].map((place) => join(root, place))
  for (const folder of places.filter((place) => existsSync(place)).flatMap(installedPackages)) {
    const manifest = readManifest(folder)
    add({ manifest, send: (response) => sendFolder(folder, scratch, response) })
  }
  for (const { archive, integrity, folder } of published) {
    const manifest = readManifest(folder)
    entries.delete(manifest.name)
    add({ manifest, integrity, send: (response) => pipeline(createReadStream(archive), response) })
  }
  return entries
}

/** The folders of all third-party packages in `nodeModules`, and in the packages there. Our own are links. */
function installedPackages(nodeModules: string): readonly string[] {
  const foldersIn = (folder: string): readonly Dirent[] =>
    readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
  return foldersIn(nodeModules)
    .flatMap((entry) => (entry.name.startsWith('@') ? foldersIn(join(nodeModules, entry.name)) : [entry]))
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((folder) => existsSync(join(folder, 'package.json')))
    .flatMap((folder) => {
      const nested = join(folder, 'node_modules')
      return [folder, ...(existsSync(nested) ? installedPackages(nested) : [])]
    })
}

/** What npm reads before it chooses a version. */
function describePackage(name: string, versions: ReadonlyMap<string, RegistryEntry>, url: string): object {
  const described = [...versions].map(([version, { manifest, integrity }]) => {
    const tarball = `${url}${encodeURIComponent(name)}/-/${version}.tgz`
    return [version, { ...manifest, dist: { tarball, ...(integrity !== undefined ? { integrity } : {}) } }]
  })
  const latest = [...versions.keys()].sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1)
  return { name, 'dist-tags': { latest }, versions: Object.fromEntries(described) as object }
}

/** Archives of npm have all files below `package`: a link of that name stands for the folder. */
async function sendFolder(folder: string, scratch: string, response: ServerResponse): Promise<void> {
  const home = await mkdtemp(join(scratch, 'archive-'))
  await symlink(folder, join(home, 'package'))
  const tar = spawn('tar', ['-chzf', '-', '--exclude=package/node_modules', '-C', home, 'package'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await pipeline(tar.stdout, response)
}
