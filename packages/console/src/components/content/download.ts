/** Downloads a file from memory. */

const urlLifetimeMs = 60_000

export function download(content: Blob, name: string): void {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  document.body.append(link)
  link.click()
  link.remove()
  // The browser may read the blob only after the user has chosen where to save it.
  setTimeout(() => URL.revokeObjectURL(url), urlLifetimeMs)
}

export function downloadJson(name: string, value: unknown): void {
  download(new Blob([`${JSON.stringify(value, null, 2)}\n`], { type: 'application/json' }), name)
}
