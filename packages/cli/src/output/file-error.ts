/** Why a file cannot be read or written, in words instead of a code of the system. */

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EISDIR: 'is a folder',
  ENOTDIR: 'a part of its path is a file, not a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
}

export function fileErrorText(reason: unknown): string {
  const { code, message } = reason as NodeJS.ErrnoException
  return reasons[code ?? ''] ?? code ?? message
}
