"""Moves a crawl between the folder of one machine and the store of a crawl in cycles."""

from importlib.metadata import version
from pathlib import Path

from goodbot.clock import SystemClock
from goodbot.cluster.spark.crawl_export import Exported, export_crawl
from goodbot.cluster.spark.crawl_import import Imported, Watch, import_crawl
from goodbot.cluster.spark.store_files import StoreFiles
from goodbot.cluster.spark.table_version import TableVersion, listed_seeds, settings_of
from goodbot.config import Settings
from goodbot.crawl_folder import SOFTWARE, CrawlFolder
from goodbot.errors import InputError
from goodbot.robot.fetch.identity import identity_of
from goodbot.settings_file import save_settings
from goodbot.store.control.seed_file import SeedSpool
from goodbot.store.sqlite.crawl_dump import CrawlDump
from goodbot.store.warc.archive_files import ArchiveFiles
from goodbot.store.warc.warc_archive import WarcArchive


def check_source(path: Path) -> CrawlFolder:
    """Returns the folder of a crawl that can be moved to a store. Raises InputError if there is none, or if a database
    keeps it."""
    folder = CrawlFolder(path)
    folder.check()
    if folder.database is not None:
        raise InputError(f"the crawl in {path} is in a database: only one with its frontier in the folder can be moved")
    return folder


def import_folder(
    files: StoreFiles, folder: CrawlFolder, settings: Settings, parts: int, watch: Watch = lambda what, count: None
) -> Imported:
    """Fills an empty store with the crawl of a folder, which stays as it is. Raises BusyError if a crawl runs there,
    else as `import_crawl`."""
    token = identity_of(settings, version("goodbot")).token
    with CrawlDump.open(folder.frontier) as dump:
        if not folder.warc.is_dir():
            return import_crawl(files, dump, None, None, settings, token, folder.seeds, parts, watch)
        warcs = ArchiveFiles(folder.warc)
        archive = WarcArchive(folder.warc, SystemClock(), SOFTWARE, read_only=True)
        try:
            return import_crawl(files, dump, warcs, archive, settings, token, folder.seeds, parts, watch)
        finally:
            archive.close()
            warcs.close()


def export_to_folder(
    files: StoreFiles, table: TableVersion, path: Path, watch: Watch = lambda what, count: None
) -> Exported:
    """Makes a crawl of one machine in a folder from the crawl of a store, which stays as it is. `goodbot crawl` makes
    its index when it goes on. Raises InputError if the folder has a crawl or imported documents, else as
    `export_crawl`."""
    folder = CrawlFolder(path)
    if folder.is_of_goodbot:
        raise InputError(f"there is a crawl or an index in {path} already: choose another folder")
    folder.create()
    with SeedSpool() as spool:
        for seed in listed_seeds(files, table):
            spool.add(seed)
        folder.seeds.take(spool)
    done = export_crawl(files, table, folder.frontier, folder.warc, watch)
    folder.seeds.settle()
    save_settings(folder.settings_file, settings_of(table, files.url))
    return done
