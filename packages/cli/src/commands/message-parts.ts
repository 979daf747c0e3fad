/** The parts of a message from the command line, in its order: `--text`, `--file`, `--data`, and `--media-type` for the part before it. */
import type { Part } from '@parley/a2a'
import { isUtf8 } from 'node:buffer'
import { readFile, stat } from 'node:fs/promises'
import { basename, extname, resolve } from 'node:path'
import { addAbortSignal } from 'node:stream'
import type { CommandContext } from '../command.ts'
import { usageError } from '../output/cli-error.ts'
import { fileErrorText } from '../output/file-error.ts'
import { formatSize } from '../output/printer.ts'

/** Base64 adds a third, and agents accept messages of a few megabytes. */
const maxFileBytes = 20_000_000

type GivenPart = { readonly option: 'text' | 'file' | 'data'; readonly value: string; mediaType?: string }

type PartContext = Pick<CommandContext, 'args' | 'terminal' | 'signal' | 'output'> & {
  /** What stands before the name of an option in errors. Default `--`; a command of `chat` begins with `/`. */
  readonly optionPrefix?: '/'
}

/** Throws a usage error, before anything is sent. */
export async function readMessageParts(context: PartContext): Promise<readonly Part[]> {
  const given = givenParts(context)
  if (given === 'stdin') return [{ text: await readMessage(context) }]
  if (given.filter(({ option, value }) => option === 'data' && value === '-').length > 1)
    throw usageError('--data - can be used once: stdin has one document.')
  const parts: Part[] = []
  for (const part of given) parts.push(await readPart(part, context))
  return parts
}

function givenParts({ args, terminal }: PartContext): readonly GivenPart[] | 'stdin' {
  const parts: GivenPart[] = []
  for (const { name, value = '' } of args.options) {
    const option = name.replace(/-part$/, '')
    if (option === 'text' || option === 'file' || option === 'data') parts.push({ option, value })
    else if (option === 'media-type') {
      const last = parts.at(-1)
      if (last === undefined) throw usageError('--media-type must follow the part that it describes.')
      if (last.mediaType !== undefined)
        throw usageError(`--media-type ${value}: the part before it has a type already.`)
      if (!/^[\w.+-]+\/[\w.+-]+(;.*)?$/.test(value)) throw usageError(`--media-type ${value}: not a media type.`)
      last.mediaType = value
    }
  }
  const [positional] = args.operands
  if (positional === undefined && parts.length === 0) {
    if (!terminal.isInputTerminal) return 'stdin'
    throw usageError('The message is empty.', messageHint)
  }
  if (positional !== undefined && parts.length > 0)
    throw usageError('A text without option cannot be combined with --text, --file and --data.', 'Use --text for it.')
  if (positional === '-') return 'stdin'
  const all: readonly GivenPart[] = positional === undefined ? parts : [{ option: 'text', value: positional }]
  if (all.every(({ option, value }) => option === 'text' && value === ''))
    throw usageError('The message is empty.', messageHint)
  return all
}

const messageHint = 'Pass a text, or --text, --file or --data, or write the text to stdin.'

/** The message on stdin, without its last line end, which `echo` adds. */
async function readMessage(context: PartContext): Promise<string> {
  const { terminal, output } = context
  if (terminal.isInputTerminal) output.note('Type the message, then press Ctrl-D on a new line.')
  const bytes = await readInput(context)
  const text = textOf(bytes)
  if (text === undefined) throw usageError('stdin is not text in UTF-8.', 'Send the bytes as a file: --file <path>.')
  if (text.trim() === '') throw usageError('The message is empty: stdin has no text.', messageHint)
  return text.replace(/\r?\n$/, '')
}

/** All of stdin, up to the limit of a file. */
async function readInput({ terminal, signal }: PartContext): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of addAbortSignal(signal, terminal.input) as AsyncIterable<Buffer | string>) {
    const bytes = Buffer.from(chunk as string)
    size += bytes.length
    if (size > maxFileBytes)
      throw usageError(
        `stdin has more than ${formatSize(maxFileBytes)}, which is too large to send.`,
        'Put the content where the agent can fetch it, and pass its URL: --file <url>.',
      )
    chunks.push(bytes)
  }
  return Buffer.concat(chunks)
}

/** `undefined` if the bytes are no text: not UTF-8, or with a NUL. */
function textOf(bytes: Buffer): string | undefined {
  if (!isUtf8(bytes) || bytes.includes(0)) return undefined
  return bytes.toString('utf8').replace(/^\uFEFF/, '')
}

async function readPart(given: GivenPart, context: PartContext): Promise<Part> {
  const { option, value, mediaType } = given
  const { terminal, optionPrefix = '--' } = context
  const name = `${optionPrefix}${option} ${value}`
  const typed = mediaType === undefined ? {} : { mediaType }
  if (option === 'text') return { text: value, ...typed }
  if (option === 'data') return { data: await readJson(value, name, context), ...typed }
  if (/^(https?|ftp|gs|s3):\/\//i.test(value)) return urlPart(value, name, typed)
  const path = resolve(terminal.cwd, value)
  const raw = (await readBytes(path, name)).toString('base64')
  return { raw, filename: basename(path), mediaType: mediaType ?? mediaTypeOf(path) }
}

/** A URL is sent as it is: the agent fetches it. */
function urlPart(url: string, name: string, typed: { readonly mediaType?: string }): Part {
  if (!URL.canParse(url)) throw usageError(`${name}: not a URL.`)
  const filename = basename(decodeURIComponentSafely(new URL(url).pathname))
  const inferred = mediaTypes[extname(filename).toLowerCase()]
  return {
    url,
    ...(filename === '' ? {} : { filename }),
    ...(inferred === undefined ? {} : { mediaType: inferred }),
    ...typed,
  }
}

async function readBytes(path: string, name: string): Promise<Buffer> {
  try {
    const { size } = await stat(path)
    if (size > maxFileBytes)
      throw usageError(
        `${name}: ${formatSize(size)} is too large to send; the limit is ${formatSize(maxFileBytes)}.`,
        'Put the file where the agent can fetch it, and pass its URL.',
      )
    return await readFile(path)
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string' && !cause.code.startsWith('A2ACLI'))
      throw usageError(`${name} cannot be read: ${fileErrorText(cause)}.`)
    throw cause
  }
}

async function readJson(value: string, name: string, context: PartContext): Promise<never> {
  const { cwd } = context.terminal
  let text: string
  if (value === '-') text = (await readInput(context)).toString('utf8')
  else if (/^\s*[[{]/.test(value)) text = value
  else
    text = await readFile(resolve(cwd, value), 'utf8').catch((cause: unknown) => {
      throw usageError(`${name} cannot be read: ${fileErrorText(cause)}.`)
    })
  try {
    return JSON.parse(text) as never
  } catch (cause) {
    const from = value === '-' ? 'stdin' : name
    throw usageError(`${from} is not JSON: ${(cause as Error).message}`)
  }
}

function decodeURIComponentSafely(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The types that people send most; others are bytes. */
const mediaTypes: Readonly<Record<string, string>> = {
  '.avif': 'image/avif',
  '.bmp': 'image/bmp',
  '.c': 'text/x-c',
  '.css': 'text/css',
  '.csv': 'text/csv',
  '.docx': 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  '.flac': 'audio/flac',
  '.gif': 'image/gif',
  '.gz': 'application/gzip',
  '.htm': 'text/html',
  '.html': 'text/html',
  '.ics': 'text/calendar',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.jsonl': 'application/jsonl',
  '.log': 'text/plain',
  '.m4a': 'audio/mp4',
  '.md': 'text/markdown',
  '.mjs': 'text/javascript',
  '.mov': 'video/quicktime',
  '.mp3': 'audio/mpeg',
  '.mp4': 'video/mp4',
  '.ndjson': 'application/x-ndjson',
  '.odt': 'application/vnd.oasis.opendocument.text',
  '.ogg': 'audio/ogg',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.pptx': 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  '.py': 'text/x-python',
  '.rtf': 'application/rtf',
  '.sh': 'application/x-sh',
  '.sql': 'application/sql',
  '.svg': 'image/svg+xml',
  '.tar': 'application/x-tar',
  '.tif': 'image/tiff',
  '.tiff': 'image/tiff',
  '.toml': 'application/toml',
  '.ts': 'text/x-typescript',
  '.tsv': 'text/tab-separated-values',
  '.txt': 'text/plain',
  '.wav': 'audio/wav',
  '.webm': 'video/webm',
  '.webp': 'image/webp',
  '.xlsx': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  '.xml': 'application/xml',
  '.yaml': 'application/yaml',
  '.yml': 'application/yaml',
  '.zip': 'application/zip',
}

function mediaTypeOf(path: string): string {
  return mediaTypes[extname(path).toLowerCase()] ?? 'application/octet-stream'
}

/** A name for content without one: `.png` for `image/png`. */
export function extensionOf(mediaType: string | undefined): string {
  const type = mediaType?.split(';', 1)[0]?.trim().toLowerCase()
  return Object.entries(mediaTypes).find(([, each]) => each === type)?.[0] ?? ''
}
