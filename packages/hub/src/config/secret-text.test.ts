import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { hideInArguments, hideInCommand, hideInUrls } from './secret-text.ts'

const hide = (): string => '*'
const url = (text: string): string => hideInUrls(text, hide)

describe('secrets in an address', () => {
  it('are its password, its token and whatever its query calls like one', () => {
    assert.equal(url('https://x.test/?key=abc&page=2'), 'https://x.test/?key=*&page=2')
    assert.equal(url('https://x.test/?page=2&api_key=abc'), 'https://x.test/?page=2&api_key=*')
    for (const name of ['token', 'access_token', 'apiKey', 'apikey', 'authToken', 'sig', 'X-Amz-Signature', 'code']) {
      assert.equal(url(`wss://x.test/a?${name}=abc#top`), `wss://x.test/a?${name}=*#top`)
    }
    assert.equal(url('https://x.test/?%61pi%5Fkey=abc'), 'https://x.test/?%61pi%5Fkey=*')
    assert.equal(url('https://x.test/#access_token=abc'), 'https://x.test/#access_token=*')
    assert.equal(url('postgres://me:a@b:c@db/x?sslmode=require'), 'postgres://me:*@db/x?sslmode=require')
    assert.equal(url('redis://:abc@cache'), 'redis://:*@cache')
    assert.equal(url('https://ghp_abc@git.test/x'), 'https://*@git.test/x')
    assert.equal(url('/hook?token=abc'), '/hook?token=*')
    assert.equal(url('see https://a:b@x and https://y/?key=c.'), 'see https://a:*@x and https://y/?key=*')
  })

  it('are not what is none, nor a reference to one', () => {
    for (const plain of [
      'https://x.test/?max_tokens=5&monkey=1&page=2',
      'https://x.test/?key=${env:KEY}',
      'https://me:${env:PASSWORD}@x.test/',
      'mailto:ann@example.com',
      'Who is it? key=5',
    ]) {
      assert.equal(url(plain), plain)
    }
  })
})

describe('secrets in a command', () => {
  it('stand behind a flag, in an assignment, in a header, or look like one', () => {
    const shown = hideInArguments(
      [
        ...['agent', '--api-key', 'abc', '--token=def', '-p', '80', '--auth', '${env:A}', 'OPENAI_API_KEY=ghi'],
        ...['-H', 'Authorization: Bearer jkl', '-H', 'Accept: text/html', '--url', 'https://x/?key=mno'],
        ...['sk-0123456789abcdef0123', '--password', '--verbose', '--max-tokens', '5', '--token=${env:T}'],
      ],
      hide,
    )
    assert.deepEqual(shown, [
      ...['agent', '--api-key', '*', '--token=*', '-p', '80', '--auth', '${env:A}', 'OPENAI_API_KEY=*'],
      ...['-H', 'Authorization: *', '-H', 'Accept: text/html', '--url', 'https://x/?key=*'],
      ...['*', '--password', '--verbose', '--max-tokens', '5', '--token=${env:T}'],
    ])
  })

  it('are found in one text, too, whatever stands between the words', () => {
    assert.equal(hideInCommand('npx  agent --token abc\t--secret=def go', hide), 'npx  agent --token *\t--secret=* go')
    const quoted = `run -H 'Authorization: Bearer abc' --password "a b" -m "it's fine" ''`
    assert.equal(hideInCommand(quoted, hide), `run -H 'Authorization: *' --password "*" -m "it's fine" ''`)
  })
})
