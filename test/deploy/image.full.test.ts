/**
 * The container image, built without an engine, and run by runc: small, without a shell, not root, on a read-only root; it survives
 * kill -9 on its volume, and works with the configuration and the secrets of deploy/compose.yaml. The commands are those of
 * docs/guides/deploy/container.md and compose.md, except those that need an engine.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chownSync, existsSync, globSync, lstatSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { parseAllDocuments } from 'yaml'
import { buildImage } from '../../scripts/build-image.ts'
import { findOrInstall } from '../../scripts/debian.ts'
import { chartModes, renderedFile } from '../../scripts/render-chart.ts'
import { freePort } from '../free-port.ts'
import { administer, findCluster } from '../postgres/cluster.ts'
import { fencedBlocks, readPage, root } from '../journeys/pages/page-steps.ts'
import { namespacesSkipReason, startContainer, type Container, type ContainerOptions } from './container.ts'
import { readTask, sendMessage, untilReady } from './hub-requests.ts'
import { unpackImage, type OciImage } from './oci-image.ts'

const deploy = join(root, 'deploy')
const containerPage = fencedBlocks(readPage('docs/guides/deploy/container.md'))
const composePage = fencedBlocks(readPage('docs/guides/deploy/compose.md'))
type Page = typeof containerPage

interface ConfigMap {
  readonly kind: string
  readonly data?: Readonly<Record<string, string>>
}

/** The shell command on the page that begins so. */
function commandOn(page: Page, start: string): string {
  const block = page.find(({ language, content }) => language === 'sh' && content.startsWith(start))
  assert.ok(block, `no command on the page begins with ${start}`)
  return block.content
}

const maxMegabytes = 200

const [buildah, runc] = [await findOrInstall('buildah'), await findOrInstall('runc')]
const skip =
  buildah === undefined || runc === undefined
    ? 'buildah or runc is missing, and only root on Debian can install them here'
    : namespacesSkipReason()

describe('npm run image', () => {
  it('replaces an image, and no other folder', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-image-test-'))
    after(() => rmSync(folder, { recursive: true }))
    for (const name of ['notes.txt', 'oci-layout']) {
      await writeFile(join(folder, name), 'mine')
      await assert.rejects(buildImage(folder), /is not an OCI image/)
    }
    assert.ok(existsSync(join(folder, 'notes.txt')))
  })
})

describe('the container image', { skip, timeout: 600_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-container-'))
  let image: OciImage
  let built = ''

  before(() => {
    const archive = join(folder, 'parley.tar')
    const command = commandOn(containerPage, 'npm run image').replace('parley.tar', archive)
    built = execFileSync('sh', ['-ec', command], { cwd: root, encoding: 'utf8' }).trim().split('\n').at(-1) ?? ''
    image = unpackImage(archive, folder)
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  const start = (options: Omit<ContainerOptions, 'image' | 'folder'>): Promise<Container> =>
    startContainer(join(runc ?? '', 'runc'), { image, folder, ...options })

  async function newVolume(name: string, files: Readonly<Record<string, string>> = {}): Promise<string> {
    const volume = join(folder, name)
    await mkdir(volume)
    for (const [file, text] of Object.entries(files)) await writeFile(join(volume, file), text, { mode: 0o444 })
    return volume
  }

  async function newDataVolume(name: string): Promise<string> {
    const volume = await newVolume(name)
    // As an engine does with a new volume: it takes the owner and the mode of the folder in the image.
    const { uid, gid, mode } = lstatSync(join(image.rootfs, 'var/lib/parley'))
    chownSync(volume, uid, gid)
    await chmod(volume, mode & 0o777)
    return volume
  }

  describe('in its files', () => {
    /** Not readdir, which follows the links of /lib and /bin. */
    const entries = () =>
      execFileSync('find', [image.rootfs, '-mindepth', '1', '-printf', '%y %m %s %P\\n'], { encoding: 'utf8' })
        .trim()
        .split('\n')
        .map((line) => {
          const [, type, mode = '', size, path = ''] = /^(\S+) (\S+) (\S+) (.*)$/.exec(line) ?? []
          return { path, type, mode: Number.parseInt(mode, 8), bytes: type === 'f' ? Number(size) : 0 }
        })

    it(`has at most ${maxMegabytes} MB unpacked`, (test) => {
      const megabytes = entries().reduce((sum, { bytes }) => sum + bytes, 0) / 1e6
      const packed = lstatSync(join(folder, 'parley.tar')).size / 1e6
      test.diagnostic(`${megabytes.toFixed(1)} MB unpacked, ${packed.toFixed(1)} MB packed; ${built.split(': ')[1]}`)
      assert.ok(megabytes > 50 && megabytes <= maxMegabytes)
    })

    it('has no shell, no package manager and no cache of one', () => {
      const programs = globSync('usr/{bin,sbin}/*', { cwd: image.rootfs }).map((path) => basename(path))
      assert.deepEqual(programs.toSorted(), ['node', 'tini', 'tini-static'])
      const caches = globSync(['var/cache/**/*', 'var/lib/apt/**/*', 'root/**/*', 'tmp/**/*'], { cwd: image.rootfs })
      assert.deepEqual(
        caches,
        ['var/cache'].filter((path) => caches.includes(path)),
      )
    })

    it('has no file with the rights of another user, or that others may write', () => {
      const wrong = entries().filter(({ mode, type, path }) => type !== 'l' && path !== 'tmp' && (mode & 0o6002) !== 0)
      // Debian creates them for shared temporary files and mail.
      assert.deepEqual(
        wrong.map(({ path }) => path).filter((path) => !/^var\/(tmp|mail|local|lock)$|^run\/lock$/.test(path)),
        [],
      )
    })

    it('has the licenses of what it contains, and its packages for scanners', () => {
      for (const file of ['opt/parley/LICENSE', 'opt/parley/NOTICE', 'usr/share/doc/libc6/copyright'])
        assert.ok(lstatSync(join(image.rootfs, file)).size > 0, file)
      const status = readFileSync(join(image.rootfs, 'var/lib/dpkg/status.d/libc6'), 'utf8')
      assert.match(status, /^Package: libc6\n(.*\n)*Version: /m)
    })
  })

  it('names a user that is not root by number, its volume, ports, signal and version', () => {
    const { User, Volumes, ExposedPorts, StopSignal, Labels, Env } = image.config
    assert.deepEqual(
      [User, Object.keys(Volumes), Object.keys(ExposedPorts), StopSignal],
      ['65532:65532', ['/var/lib/parley'], ['3000/tcp', '3001/tcp'], 'SIGTERM'],
    )
    assert.match(built, new RegExp(`Parley ${Labels['org.opencontainers.image.version']}, sha256:`))
    assert.ok(Env.every((variable) => !/KEY|SECRET|TOKEN|PASSWORD/.test(variable)))
    const { uid, mode } = lstatSync(join(image.rootfs, 'var/lib/parley'))
    assert.deepEqual([uid, mode & 0o777], [65532, 0o700])
  })

  it('refuses to serve the network without authentication', async () => {
    const data = await newDataVolume('data-open')
    await using container = await start({ volumes: { '/var/lib/parley': data }, env: { PORT: '0', GRPC_PORT: '' } })
    assert.notEqual(await container.ended, 0)
    assert.match(container.output(), /Refusing to listen on 0\.0\.0\.0 without authentication/)
  })

  it('keeps its tasks on its volume after kill -9, and ends on SIGTERM', async (test) => {
    const data = await newDataVolume('data')
    const config = containerPage.find(({ title }) => title === 'parley.yaml')?.content ?? ''
    const etc = await newVolume('etc', { 'parley.yaml': config })
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const options = {
      volumes: { '/var/lib/parley': data },
      readOnly: { '/etc/parley': etc },
      env: { PORT: String(port), GRPC_PORT: '' },
    }
    let id: string
    {
      await using container = await start(options)
      const started = performance.now()
      await untilReady(url, container)
      test.diagnostic(`${Math.round(performance.now() - started)} ms from start to ready`)
      assert.equal((await fetch(`${url}/healthz`)).status, 200)
      id = await sendMessage(url, 'echo', 'hello')
      assert.equal(container.exec('node', '-p', 'process.getuid()').output.trim(), '65532')
      assert.match(container.exec('node', '-e', `fs.writeFileSync('/opt/parley/x', '')`).output, /EROFS/)
      assert.deepEqual(
        healthChecks().map((check) => container.exec(...check).status),
        [0, 0],
      )
      assert.match(container.runAsPrinted(commandOn(containerPage, 'docker exec'), folder), /\/#code=[\w-]{43}$/m)
      assert.ok(existsSync(join(data, 'parley.admin-key')))
      container.signal('KILL')
      await container.ended
    }
    await using container = await start(options)
    await untilReady(url, container)
    assert.match(JSON.stringify(await readTask(url, 'echo', id)), /hello/)
    container.signal('TERM')
    assert.equal(await container.ended, 0, container.output())

    /** Those of the Containerfile and of a `helm test`. */
    function healthChecks(): readonly (readonly string[])[] {
      const text = readFileSync(join(deploy, 'Containerfile'), 'utf8')
      const check = JSON.parse(/^HEALTHCHECK .* CMD (\[.*\])$/m.exec(text)?.[1] ?? '[]') as string[]
      return [check, [...check, `${url}/readyz`]]
    }
  })

  it('has a health check that fails if the hub does not answer', async () => {
    const env = { PORT: String(await freePort()) }
    const checked = { ...image, config: { ...image.config, Entrypoint: ['node', '/opt/parley/healthcheck.mjs'] } }
    await using check = await startContainer(join(runc ?? '', 'runc'), { image: checked, folder, env, command: [] })
    assert.equal(await check.ended, 1)
    assert.match(check.output(), /ECONNREFUSED/)
  })

  for (const mode of chartModes) {
    it(`accepts the configuration that the Helm chart renders, ${mode}`, async () => {
      const documents = parseAllDocuments(readFileSync(renderedFile(mode), 'utf8')).map(
        (one) => one.toJS() as ConfigMap,
      )
      const config = documents.find(({ kind }) => kind === 'ConfigMap')?.data?.['parley.yaml'] ?? ''
      const secrets = await newVolume(`chart-secrets-${mode}`, {
        'admin-key': 'a-long-random-value-for-the-test\n',
        'api-key': 'a-key-of-a-model\n',
        'database-url': 'postgres://parley:password@db.example.com/parley\n',
        'master-key': `${randomBytes(32).toString('base64')}\n`,
      })
      await using container = await start({
        readOnly: {
          '/etc/parley': await newVolume(`chart-${mode}`, { 'parley.yaml': config }),
          '/run/secrets/parley': secrets,
        },
        command: ['config', 'check'],
      })
      assert.equal(await container.ended, 0, container.output())
      assert.match(container.output(), /parley\.yaml is valid/)
    })
  }

  it('runs with the configuration of compose.yaml on PostgreSQL, with secrets as files', async (test) => {
    const found = await findCluster()
    if ('missing' in found) return test.skip(found.missing)
    const { host, port: databasePort } = found.cluster
    const place = await newVolume('compose')
    execFileSync('sh', ['-ec', commandOn(composePage, 'mkdir')], { cwd: place })
    const secrets = join(place, 'secrets')
    const password = readFileSync(join(secrets, 'postgres-password'), 'utf8')
    const role = `parley_${randomBytes(4).toString('hex')}`
    await administer(found.cluster, `CREATE ROLE ${role} LOGIN PASSWORD '${password}'`)
    await administer(found.cluster, `CREATE DATABASE ${role} OWNER ${role}`)
    // The server is not a container of this name.
    const printed = readFileSync(join(secrets, 'database-url'), 'utf8')
    assert.equal(printed, `postgres://parley:${password}@postgres/parley`)
    await writeFile(
      join(secrets, 'database-url'),
      printed.replace('//parley:', `//${role}:`).replace('@postgres/parley', `@${host}:${databasePort}/${role}`),
    )
    // Single files: the container does not see their folder, which is private.
    const names = ['admin-key', 'database-url', 'master-key']
    const mounted = Object.fromEntries(names.map((name) => [`/run/secrets/${name}`, join(secrets, name)]))
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    await using container = await start({
      volumes: { '/var/lib/parley': await newDataVolume('data-compose') },
      readOnly: { ...mounted, '/etc/parley/parley.yaml': join(deploy, 'parley.yaml') },
      env: { PORT: String(port), GRPC_PORT: '' },
    })
    await untilReady(url, container)
    const key = container.runAsPrinted(commandOn(composePage, 'docker compose exec'), place).trim()
    const id = await sendMessage(url, 'echo', 'hello', key)
    assert.match(JSON.stringify(await readTask(url, 'echo', id, key)), /hello/)
    assert.equal((await fetch(`${url}/a2a/echo/tasks/${id}`)).status, 401)
  })
})
