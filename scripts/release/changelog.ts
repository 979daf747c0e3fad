/** CHANGELOG.md: sections by version, newest first, after one called "Unreleased". */

const unreleasedHeading = '## Unreleased\n'

/**
 * Moves what is unreleased, and `items` after it, into a section of the version. Throws if there is nothing, unless the version completes
 * its pre-release `from`.
 */
export function addRelease(
  changelog: string,
  version: string,
  date: string,
  items: readonly string[],
  from = '',
): string {
  const at = changelog.indexOf(unreleasedHeading)
  if (at < 0) throw new Error('CHANGELOG.md has no section "Unreleased"')
  const start = at + unreleasedHeading.length
  const end = nextSection(changelog, start)
  const changes = [changelog.slice(start, end).trim(), ...items].filter((part) => part !== '').join('\n')
  const notes = changes === '' && from.startsWith(`${version}-`) ? `- No changes since ${from}.` : changes
  if (notes === '')
    throw new Error('There is nothing to release: no change notes, and nothing unreleased in CHANGELOG.md')
  return `${changelog.slice(0, start)}\n## ${version} (${date})\n\n${notes}\n${end < changelog.length ? '\n' : ''}${changelog.slice(end)}`
}

/** The notes of a version, without its heading. */
export function releaseNotes(changelog: string, version: string): string {
  const heading = new RegExp(`^## ${version.replaceAll('.', '\\.')}(?: \\(.*\\))?\\n`, 'm').exec(changelog)
  if (heading === null) throw new Error(`CHANGELOG.md has no section for ${version}`)
  const start = heading.index + heading[0].length
  return changelog.slice(start, nextSection(changelog, start)).trim()
}

function nextSection(changelog: string, from: number): number {
  const found = changelog.indexOf('\n## ', from)
  return found < 0 ? changelog.length : found + 1
}
