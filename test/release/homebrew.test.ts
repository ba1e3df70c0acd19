/** The formula, run by Ruby against an archive of a release, with Homebrew's part replaced by what it does with a formula. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { archives } from '../../scripts/release/archives.ts'
import { formulaFor } from '../../scripts/release/homebrew.ts'
import type { Release } from '../../scripts/release/release.ts'
import { smallRelease } from '../support/release.ts'

const URL = 'https://downloads.example/tally/1.2.3'

const hasRuby = Bun.which('ruby') !== null
if (!hasRuby) console.warn('The formula for Homebrew is not run in tests: Ruby is missing.')

let folder: string
let release: Release

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tally-homebrew-'))
  release = await smallRelease({ version: '1.2.3', folder: join(folder, 'release') })
  await archives(release)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test('without the URL of the archives, there is no formula', async () => {
  expect(await formulaFor(release, undefined)).toEqual([])
  expect(await formulaFor(release, '')).toEqual([])
})

test.each(['ftp://example.com', 'downloads.example', 'https://example.com/"; exit', 'https://example.com/#{exit}'])(
  'the URL %s is refused',
  async (url) => {
    await expect(formulaFor(release, url)).rejects.toThrow('TALLY_RELEASES_URL is')
  },
)

test.if(hasRuby)(
  'for each system, the formula names an archive with its checksum, and installs files in it',
  async () => {
    const [formula] = await formulaFor(release, `${URL}/`)
    const unpacked = join(folder, 'unpacked')
    await mkdir(unpacked)
    await Bun.$`tar -xzf ${join(release.folder, 'tally-1.2.3-linux-x64.tar.gz')} -C ${unpacked} --strip-components=1`
    // Prints what Homebrew would download and install, and fails at whatever a formula does not have.
    const stand = join(folder, 'homebrew.rb')
    await Bun.write(
      stand,
      `class Place
  def initialize(name) = @name = name
  def install(path) = (raise "#{path} is missing" unless File.file?(path); puts "#{@name} #{path}")
end
class Formula
  class << self
    %i[desc homepage version license service test].each { |name| define_method(name) { |*_, &_block| } }
    %i[on_macos on_linux on_arm on_intel].each { |name| define_method(name) { |&block| block.call } }
    def url(text) = @url = text
    def sha256(text) = puts("#{text}  #{@url}")
  end
  %i[bin man1 bash_completion zsh_completion fish_completion doc].each { |name| define_method(name) { Place.new(name) } }
end
load ARGV[0]
Dir.chdir(ARGV[1]) { Tally.new.install }
`,
    )
    const lines = (await Bun.$`ruby -w ${stand} ${formula!} ${unpacked}`.text()).trim().split('\n')
    const sums = lines.slice(0, 4).map((line) => line.replace(`${URL}/`, ''))
    expect(sums.map((line) => line.split('  ')[1])).toEqual([
      'tally-1.2.3-darwin-arm64.tar.gz',
      'tally-1.2.3-darwin-x64.tar.gz',
      'tally-1.2.3-linux-arm64.tar.gz',
      'tally-1.2.3-linux-x64.tar.gz',
    ])
    await Bun.write(join(release.folder, 'sums'), `${sums.join('\n')}\n`)
    await Bun.$`sha256sum --check --quiet sums`.cwd(release.folder)
    expect(lines.slice(4)).toEqual([
      'bin tally',
      'man1 share/man/man1/tally.1',
      'bash_completion share/bash-completion/completions/tally',
      'zsh_completion share/zsh/site-functions/_tally',
      'fish_completion share/fish/vendor_completions.d/tally.fish',
      'doc THIRD-PARTY-LICENSES.txt',
    ])
  },
)
