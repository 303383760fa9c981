/* SPDX-License-Identifier: MIT */
/*
 * The search of the manual pages: entries.js has a row for each name, with its
 * section, where it is, and what its page is about.  Every word has to be in the
 * name or the text; what begins with the words stands first.
 */
(function () {
    "use strict";
    var input = document.getElementById("search");
    var found = document.getElementById("found");

    /* Lower is better; -1 for no match. */
    function rank(entry, words) {
        var name = entry[0].toLowerCase();
        var text = name + " " + entry[3].toLowerCase();

        if (!words.every(function (w) { return text.indexOf(w) >= 0; }))
            return -1;
        if (name === words[0])
            return 0;
        if (name.indexOf(words[0]) === 0)
            return 1;
        return name.indexOf(words[0]) > 0 ? 2 : 3;
    }

    function show() {
        var words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
        var hits = [];

        found.textContent = "";
        if (words.length === 0)
            return;
        entries.forEach(function (entry) {
            var r = rank(entry, words);

            if (r >= 0)
                hits.push([r, entry]);
        });
        hits.sort(function (a, b) { return a[0] - b[0]; });
        hits.slice(0, 40).forEach(function (hit) {
            var line = document.createElement("div");
            var link = document.createElement("a");

            link.href = hit[1][2];
            link.textContent = hit[1][0] + "(" + hit[1][1] + ")";
            line.appendChild(link);
            line.appendChild(document.createTextNode(" " + hit[1][3]));
            found.appendChild(line);
        });
        if (hits.length === 0)
            found.textContent = "nothing found";
    }

    input.addEventListener("input", show);
    input.addEventListener("keydown", function (event) {
        var first = found.querySelector("a");

        if (event.key === "Enter" && first !== null)
            location.href = first.href;
    });
})();
