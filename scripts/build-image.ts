/**
 * `npm run image -- <folder or file.tar>`: the container image of the hub without an engine and without a registry, on Debian. It makes what
 * the first stages of deploy/Containerfile make, and has buildah run the last stage as it stands. The result is an OCI image: a
 * layout in a folder, or an archive.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { bundleHub } from './bundle-hub.ts'
import { findOrInstall } from './debian.ts'

const root = join(import.meta.dirname, '..')

export interface BuiltImage {
  /** `oci:<folder>` or `oci-archive:<file>`, as buildah, skopeo and podman name it. */
  readonly reference: string
  readonly version: string
  readonly digest: string
}

/**
 * Replaces an older image at `destination`. Throws if `destination` contains anything else, or if this machine has no buildah and none
 * can be installed.
 */
export async function buildImage(destination: string): Promise<BuiltImage> {
  if (!mayReplace(destination)) throw new Error(`${destination} is not an OCI image: name a new folder or a .tar file`)
  const folder = await findOrInstall('buildah')
  if (folder === undefined)
    throw new Error('buildah is missing: install it, or build deploy/Containerfile with an engine')
  const scratch = mkdtempSync(join(tmpdir(), 'parley-image-'))
  try {
    const version = await writeHub(join(scratch, 'hub/hub'))
    writeRootfs(join(scratch, 'rootfs'))
    const digest = assemble(join(folder, 'buildah'), scratch, version, destination)
    return { reference: referenceOf(destination), version, digest }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** An archive, an OCI layout, or nothing: `npm run image -- .` must not delete the folder it runs in. */
function mayReplace(destination: string): boolean {
  if (!existsSync(destination)) return true
  if (!statSync(destination).isDirectory()) return destination.endsWith('.tar')
  const entries = readdirSync(destination)
  const isLayout = entries.includes('oci-layout') && entries.every((name) => layoutEntries.includes(name))
  return entries.length === 0 || isLayout
}

/** https://github.com/opencontainers/image-spec/blob/main/image-layout.md */
const layoutEntries = ['blobs', 'index.json', 'oci-layout']

/** What the stage `hub` contains. Node is the one that npm has installed, unchanged: without symbols it is 18 MB smaller of 127. */
async function writeHub(folder: string): Promise<string> {
  mkdirSync(join(folder, 'usr/bin'), { recursive: true })
  const { version } = await bundleHub(join(folder, 'opt/parley'))
  copyFileSync(join(root, `node_modules/node-linux-${process.arch}/bin/node`), join(folder, 'usr/bin/node'))
  copyFileSync(join(root, 'deploy/image/healthcheck.mjs'), join(folder, 'opt/parley/healthcheck.mjs'))
  return version
}

/** What the stage `rootfs` contains. */
function writeRootfs(folder: string): void {
  mkdirSync(join(folder, 'data/parley'), { recursive: true })
  execFileSync('chmod', ['0700', join(folder, 'data/parley')])
  const script = join(root, 'deploy/image/make-rootfs.sh')
  const make = (): unknown =>
    execFileSync('sh', [script, join(folder, 'out')], { stdio: ['ignore', 'ignore', 'pipe'], timeout: 300_000 })
  try {
    make()
  } catch {
    // The lists of packages are missing or old.
    rmSync(join(folder, 'out'), { recursive: true, force: true })
    execFileSync('apt-get', ['-qq', 'update'], { stdio: 'ignore', timeout: 300_000 })
    make()
  }
}

/** The digest of the image. The same files and the same time give the same digest. */
function assemble(buildah: string, scratch: string, version: string, destination: string): string {
  const containerfile = join(scratch, 'Containerfile')
  writeFileSync(containerfile, lastStage(readFileSync(join(root, 'deploy/Containerfile'), 'utf8')))
  // vfs needs no kernel module and no mount, and chroot no namespaces: they work in containers and virtual machines, too.
  const storage = ['--storage-driver', 'vfs', '--root', join(scratch, 'storage'), '--runroot', join(scratch, 'run')]
  const run = (...args: string[]): string =>
    execFileSync(buildah, [...storage, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  const contexts = ['hub', 'rootfs'].flatMap((name) => ['--build-context', `${name}=${join(scratch, name)}`])
  const labels = ['--build-arg', `VERSION=${version}`, '--timestamp', String(sourceTime()), '--identity-label=false']
  const name = `parley:${version}`
  run(
    'build',
    '--isolation',
    'chroot',
    '--layers=false',
    ...labels,
    ...contexts,
    '-f',
    containerfile,
    '-t',
    name,
    scratch,
  )
  rmSync(destination, { recursive: true, force: true })
  const digestFile = join(scratch, 'digest')
  run('push', '--digestfile', digestFile, name, `${referenceOf(destination)}:${name}`)
  return readFileSync(digestFile, 'utf8').trim()
}

/** From the last `FROM`. */
export function lastStage(containerfile: string): string {
  return containerfile.slice(containerfile.lastIndexOf('\nFROM ') + 1)
}

/** In seconds, for all files of the image: SOURCE_DATE_EPOCH, else the last commit, else (an archive of the sources) 1970. */
function sourceTime(): number {
  const given = process.env['SOURCE_DATE_EPOCH']
  if (given !== undefined && given !== '') return Number(given)
  const git = spawnSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' })
  return git.status === 0 ? Number(git.stdout) : 0
}

function referenceOf(destination: string): string {
  return `${destination.endsWith('.tar') ? 'oci-archive' : 'oci'}:${destination}`
}

if (import.meta.main) {
  const [destination] = process.argv.slice(2)
  if (destination === undefined) {
    console.error('Usage: npm run image -- <folder or file.tar>')
    process.exit(2)
  }
  const { reference, version, digest } = await buildImage(resolve(destination))
  console.log(`${reference}: Parley ${version}, ${digest}`)
}
