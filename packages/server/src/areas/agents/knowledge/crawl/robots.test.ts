import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { isAllowed, parseRobots } from './robots.ts'

const allows = (text: string, path: string) =>
  isAllowed(parseRobots(text).rules, new URL(path, 'https://example.com'))

suite('robots.txt', () => {
  for (const [text, path, allowed] of [
    ['', '/a', true],
    ['User-agent: *\nDisallow: /', '/a', false],
    ['User-agent: *\nDisallow:', '/a', true],
    ['User-agent: *\nDisallow: /private', '/private/x', false],
    ['User-agent: *\nDisallow: /private', '/public', true],
    // The longest rule decides, and among equal ones the one that allows.
    ['User-agent: *\nDisallow: /a\nAllow: /a/b', '/a/b/c', true],
    ['User-agent: *\nAllow: /a\nDisallow: /a', '/a', true],
    // A group for us replaces the one for all.
    ['User-agent: *\nDisallow: /\n\nUser-agent: Loquat\nDisallow: /x', '/a', true],
    ['User-agent: *\nAllow: /\n\nUser-agent: LOQUAT/1.0\nDisallow: /x', '/x', false],
    ['User-agent: other\nUser-agent: loquat\nDisallow: /x', '/x', false],
    ['User-agent: loquat\nDisallow: /x\nUser-agent: other\nDisallow: /y', '/y', true],
    // What stands for anything, and for the end.
    ['User-agent: *\nDisallow: /*.pdf$', '/a/b.pdf', false],
    ['User-agent: *\nDisallow: /*.pdf$', '/a/b.pdf?x', true],
    ['User-agent: *\nDisallow: /a*b*c', '/a-b-c-d', false],
    ['User-agent: *\nDisallow: /a*b$', '/ab-b', false],
    ['User-agent: *\nDisallow: /ab*b$', '/ab', true],
    ['User-agent: *\nDisallow: /a$', '/a/b', true],
    ['User-agent: *\nDisallow: /search?q=', '/search?q=1', false],
    ['User-agent: *\nDisallow: /ü', '/%C3%BC', false],
    ['\ufeffuser-agent:*\r\ndisallow:/a#b\rALLOW : /a/b', '/a/b', true],
    ['Disallow: /', '/a', true],
    ['Sitemap: x\nno colon\n: :\nUser-agent: *\nSitemap: y\nDisallow: /a', '/a', false],
  ] as const) {
    test(`${allowed ? 'allows' : 'forbids'} ${path}: ${JSON.stringify(text)}`, () => {
      assert.equal(allows(text, path), allowed)
    })
  }

  test('asks for a pause', () => {
    assert.equal(parseRobots('User-agent: *\nCrawl-delay: 2.5').delaySeconds, 2.5)
    assert.equal(parseRobots('User-agent: *\nCrawl-delay: soon').delaySeconds, 0)
  })

  test('takes no time, whatever its patterns are', () => {
    const rule = `Disallow: /${'a*'.repeat(240)}b$\n`
    const { rules } = parseRobots(`User-agent: *\n${rule.repeat(2_000)}`)
    assert.equal(rules.length, 500)
    // With backtracking, this would not end.
    assert.ok(isAllowed(rules, new URL(`https://example.com/${'a'.repeat(1_900)}`)))
  })
})
