/** `a2a task download`: saves the content of artifacts. The only command that writes files, and only inside the folder of `--dir`. */
import type { Artifact } from '@parley/a2a'
import { join, relative, resolve } from 'node:path'
import { maxBytesOf, readBytes } from '../../agent/answer-limit.ts'
import type { CommandContext } from '../../command.ts'
import { CliError } from '../../output/cli-error.ts'
import { formatSize } from '../../output/printer.ts'
import { field } from '../../output/text.ts'
import { artifactFiles, type ArtifactFile } from './artifact-files.ts'
import { requireAbsent, requireFolder, saveFile } from './save-file.ts'

/** What the command prints with `-o json`. */
interface DownloadReport {
  readonly version: 1
  readonly taskId: string
  readonly files: readonly SavedFile[]
  /** Files that the agent keeps at a URL, which `--fetch-urls` fetches. */
  readonly urls: readonly { readonly artifactId: string; readonly url: string }[]
}
interface SavedFile {
  readonly path: string
  readonly artifactId: string
  readonly mediaType: string | null
  readonly size: number
}

export async function run(context: CommandContext): Promise<void> {
  const { args, settings, output, signal, terminal } = context
  const taskId = args.operands[0] ?? ''
  const dir = settings.value('dir') ?? '.'
  const folder = resolve(terminal.cwd, dir)
  if (dir !== '-') await requireFolder(folder)
  const connection = await context.connect()
  try {
    const task = await connection.getTask(taskId, { historyLength: 0, signal })
    const files = artifactFiles(chosen(task.artifacts ?? [], settings.values('artifact'), taskId))
    const fetched = settings.has('fetch-urls')
    const saved: SavedFile[] = []
    const urls: { artifactId: string; url: string }[] = []
    const isSaved = (file: ArtifactFile): boolean => file.url === undefined || fetched
    if (dir !== '-' && !settings.has('force'))
      await requireAbsent(files.filter(isSaved).map(({ name }) => join(folder, name)))
    for (const file of files) {
      if (file.url !== undefined && !isSaved(file)) {
        urls.push({ artifactId: file.artifactId, url: file.url })
        continue
      }
      const bytes = file.url === undefined ? file.bytes() : await fetchBytes(file.url, context)
      if (dir === '-') {
        await writeBytes(terminal.output, bytes)
        continue
      }
      const path = join(folder, file.name)
      await saveFile(path, bytes, settings.has('force'))
      saved.push(toSaved(file, relative(terminal.cwd, path) || file.name, bytes.length))
    }
    if (dir !== '-') await report({ version: 1, taskId, files: saved, urls }, context)
    if (urls.length > 0) output.note(`${urls.length} files are at URLs of the agent: use --fetch-urls to save them.`)
  } finally {
    await connection.close()
  }
}

function chosen(artifacts: readonly Artifact[], wanted: readonly string[], taskId: string): readonly Artifact[] {
  for (const name of wanted)
    if (!artifacts.some((artifact) => isNamed(artifact, name)))
      throw new CliError('A2ACLI_ERR_USAGE', `--artifact ${name}: the task ${taskId} has no such artifact.`, {
        hint: `Its artifacts: ${artifacts.map(({ artifactId }) => artifactId).join(', ') || 'none'}`,
      })
  return wanted.length === 0
    ? artifacts
    : artifacts.filter((artifact) => wanted.some((name) => isNamed(artifact, name)))
}

const isNamed = ({ artifactId, name }: Artifact, wanted: string): boolean => artifactId === wanted || name === wanted

function toSaved({ artifactId, mediaType }: ArtifactFile, path: string, size: number): SavedFile {
  return { path, artifactId, mediaType: mediaType ?? null, size }
}

async function report(result: DownloadReport, { output }: CommandContext): Promise<void> {
  if (output.format === 'json') return output.document(result)
  const { taskId, files, urls } = result
  await output.text(
    [
      field('Task ID', taskId),
      ...files.map(({ path, mediaType, size }) =>
        field('File', `${path} (${mediaType ?? 'unknown type'}, ${formatSize(size)})`),
      ),
      ...urls.map(({ url }) => field('URL', url)),
      field('Saved', `${files.length} ${files.length === 1 ? 'file' : 'files'}`),
    ].join(''),
  )
}

/** The agent chose the URL, so it gets no credentials and must lead to a public address, or to the host of the agent itself. */
async function fetchBytes(url: string, { settings, signal }: CommandContext): Promise<Uint8Array> {
  const { guardedFetch } = await import('@parley/a2a/node')
  const own = [settings.value('agent-card'), settings.value('endpoint')].flatMap((reference) => hostOf(reference) ?? [])
  const fetch = guardedFetch({ allowHttp: true, allow: own })
  if (!/^https?:/i.test(url) || !URL.canParse(url))
    throw new CliError('A2ACLI_ERR_UNREACHABLE', `${url} cannot be fetched: it is no web address.`)
  const response = await fetch(new Request(url, { signal })).catch((cause: unknown) => {
    signal.throwIfAborted()
    throw new CliError('A2ACLI_ERR_UNREACHABLE', `${url} cannot be fetched: ${(cause as Error).message}`, { cause })
  })
  if (!response.ok) throw new CliError('A2ACLI_ERR_UNREACHABLE', `${url} answered HTTP ${response.status}.`)
  return readBytes(response, url, maxBytesOf(settings, maxFetchedBytes))
}

/** The content is kept in memory until it is complete. */
const maxFetchedBytes = 256_000_000

function hostOf(reference: string | undefined): string | undefined {
  if (reference === undefined) return undefined
  const url = /^https?:/i.test(reference) ? reference : `http://${reference}`
  return URL.canParse(url) ? new URL(url).hostname.replaceAll(/^\[|\]$/g, '') : undefined
}

function writeBytes(stream: NodeJS.WritableStream, bytes: Uint8Array): Promise<void> {
  return new Promise((done, reject) => {
    stream.write(bytes, (failure) => (failure ? reject(failure) : done()))
  })
}
