import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readableName, skillOfTool } from './tool-skill.ts'

describe('a tool as a skill', () => {
  it('has a readable name, however its own is written [S0-26]', () => {
    const names = [
      'get_user_name',
      'get-user-name',
      'getUserName',
      'GetUserName',
      'files.read/all',
      'parseHTMLPage',
      'x',
      '__',
    ]
    assert.deepEqual(names.map(readableName), [
      'Get user name',
      'Get user name',
      'Get user name',
      'Get user name',
      'Files read all',
      'Parse HTML page',
      'X',
      '__',
    ])
  })

  it('has the title and the description of the tool if there are some [S0-26]', () => {
    assert.deepEqual(skillOfTool({ name: 'get-sum', title: 'Add', description: 'Adds two numbers' }, 'mcp'), {
      id: 'get-sum',
      name: 'Add',
      description: 'Adds two numbers',
      tags: ['tool', 'mcp', 'compute'],
    })
    assert.equal(skillOfTool({ name: 'web_search' }, 'mcp').description, 'Web search')
  })

  it('has tags for its category [S0-26]', () => {
    const sort = (name: string) => skillOfTool({ name }, 'function').tags
    assert.deepEqual(sort('web_search'), ['tool', 'function', 'search'])
    assert.deepEqual(sort('delete_file'), ['tool', 'function', 'write'])
    assert.deepEqual(sort('listFiles'), ['tool', 'function', 'read'])
    assert.deepEqual(sort('blorb'), ['tool', 'function', 'general'])
  })
})
